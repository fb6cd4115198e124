#!/bin/sh
# store.sh: a SeaweedFS on one host, with the bucket `aop` and one pair of keys (ACCESS_KEY, SECRET_KEY).
set -eu
umask 077
printf '{"identities":[{"name":"aop","credentials":[{"accessKey":"%s","secretKey":"%s"}],"actions":["Admin","Read","Write","List"]}]}' \
  "$ACCESS_KEY" "$SECRET_KEY" > /tmp/s3.json
(until echo 's3.bucket.create -name aop' | weed shell -master=127.0.0.1:9333 >/dev/null 2>&1; do sleep 2; done) &
exec weed server -dir=/data -ip=127.0.0.1 -ip.bind=0.0.0.0 -s3 -s3.port=8333 -s3.config=/tmp/s3.json \
  -s3.autoCreateBucket=false -s3.allowDeleteBucketNotEmpty=false -master.telemetry=false -volume.max=100 -master.volumeSizeLimitMB=128
