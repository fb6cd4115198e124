#!/bin/sh
# secrets.sh: secrets for compose.yaml, new at each call. They belong into a file that nobody else may read.
set -eu
random() { od -An -N "$1" -tx1 /dev/urandom | tr -d ' \n'; }
echo "REDIS_PASSWORD=$(random 24)"
echo "S3_ACCESS_KEY=aop$(random 8)"
echo "S3_SECRET_KEY=$(random 24)"
echo "WEBHOOK_SECRET=whsec_$(od -An -N 24 -tx1 /dev/urandom | tr -d ' \n' | head -c 32 | base64 | tr -d '\n=')"
