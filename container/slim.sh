#!/bin/sh
# slim.sh TARGET: what runs stays. The root of the container is read-only, so everything is compiled now.
set -eu
target=$1
packages=$("$target/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
"$target/bin/python" -m pip uninstall --quiet --yes setuptools pip
rm -f "$target"/bin/activate* "$target"/bin/Activate.ps1 "$target"/bin/pip*

# Of botocore's services we speak to S3, and to those that say who we are.
data=$packages/botocore/data
for service in "$data"/*/; do
  case $(basename "$service") in
    s3 | sts | sso | sso-oidc) ;;
    *) rm -rf "$service" ;;
  esac
done
rm -rf "$packages"/boto3/examples "$packages"/boto3/data/*/

find "$packages" -type d \( -name tests -o -name test \) -prune -exec rm -rf {} +
find "$packages" -type d -name __pycache__ -prune -exec rm -rf {} +
# By contents, not by time of change: a copied layer has other times.
"$target/bin/python" -m compileall -q -j 0 --invalidation-mode unchecked-hash "$packages"
