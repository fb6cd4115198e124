#!/usr/bin/env bash
# build.sh TARGET: etcd as Debian 12 builds it, and kube-apiserver from Debian's source package, for tests/chart/apiserver.
# All of it comes by apt from the mirror that this machine knows, whose signatures apt checks. Nothing is installed, so
# nobody needs rights; what it took is deleted, TARGET keeps the two programs and the versions of what they are made of.
set -euo pipefail

for program in apt-get dpkg-deb dpkg-source patch xz; do
  command -v "$program" >/dev/null || { echo "build.sh: $program is missing (Debian's package dpkg-dev has all)" >&2; exit 1; }
done

mkdir -p "$1"
target=$(cd "$1" && pwd)
work=$(mktemp -d "$target/work.XXXXXX")
trap 'rm -rf "$work"' EXIT
export LC_ALL=C HOME=$work TMPDIR=$work

# The machine's own sources of packages, those of source packages added, with lists of our own.
mkdir -p "$work"/lists/partial "$work"/cache/archives/partial "$work"/sources.d "$work"/packed
for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
  [ ! -f "$file" ] || sed -n 's/^deb\(-src\)\{0,1\} \(.*\)/deb \2\ndeb-src \2/p' "$file" >"$work/sources.d/${file##*/}"
done
for file in /etc/apt/sources.list.d/*.sources; do
  [ ! -f "$file" ] || sed 's/^Types:.*/Types: deb deb-src/' "$file" >"$work/sources.d/${file##*/}"
done
options=(-qq -o "Dir::State::lists=$work/lists" -o "Dir::Cache=$work/cache" -o Dir::Etc::sourcelist=/dev/null
  -o "Dir::Etc::sourceparts=$work/sources.d" -o APT::Sandbox::User=root)
apt-get "${options[@]}" update

version=$(apt-cache "${options[@]}" showsrc kubernetes | sed -n 's/^Version: //p' | sort -V | tail -n 1)
upstream=${version##*+really}
upstream=${upstream%%-*}
case $upstream in
  1.20.*) ;;
  *)
    echo "build.sh: needs Debian 12, which has Kubernetes 1.20; the sources of this machine have: ${version:-none}" >&2
    exit 1
    ;;
esac
go=$(apt-cache "${options[@]}" depends golang-go | sed -n 's/.*Depends: golang-\([0-9.]*\)-go$/\1/p')

cd "$work/packed"
apt-get "${options[@]}" source --download-only "kubernetes=$version"
apt-get "${options[@]}" download etcd-server "golang-$go-go" "golang-$go-src" golang-github-modern-go-reflect2-dev
{ echo "kubernetes $version"; for file in *.deb; do dpkg-deb --show "$file"; done; } | tr '\t' ' ' | tee "$work/versions"

for file in *.deb; do
  dpkg-deb --extract "$file" "$work/root"
done
mkdir -p "$work/go/src/k8s.io"
dpkg-source --no-check --extract ./*.dsc "$work/go/src/k8s.io/kubernetes" >/dev/null
cd "$work/go/src/k8s.io/kubernetes"

# The one that Kubernetes 1.20 brings along does not work with the Go of Debian 12.
rm -r vendor/github.com/modern-go/reflect2
cp -r "$work/root/usr/share/gocode/src/github.com/modern-go/reflect2" vendor/github.com/modern-go/

export GOROOT=$work/root/usr/lib/go-$go GOPATH=$work/go GOCACHE=$work/gocache GO111MODULE=off GOENV=off GOFLAGS= CGO_ENABLED=0
build=(nice -n 15 "$GOROOT/bin/go" build -trimpath)

# What the published OpenAPI schema is made of is generated. Its linter finds exactly what upstream's list has: no package is
# left out.
"${build[@]}" -o "$work/openapi-gen" ./vendor/k8s.io/kube-openapi/cmd/openapi-gen
packages=$(grep -rl --include='*.go' '^// *+k8s:openapi-gen=' cmd pkg plugin staging/src/k8s.io | xargs -n 1 dirname | sort -u |
  grep -v -e /code-generator/ -e /sample-apiserver/ | sed -e 's,^staging/src/,vendor/,' -e 's,^,k8s.io/kubernetes/,' | paste -sd ,)
PATH=$GOROOT/bin:$PATH nice -n 15 "$work/openapi-gen" --logtostderr -i "$packages" -p k8s.io/kubernetes/pkg/generated/openapi \
  -O zz_generated.openapi -h vendor/k8s.io/code-generator/hack/boilerplate.go.txt -r "$work/violations"
diff "$work/violations" api/api-rules/violation_exceptions.list

flags="-s -w"
for package in component-base/version client-go/pkg/version; do # of the command line, of the API
  is=k8s.io/kubernetes/vendor/k8s.io/$package
  flags="$flags -X $is.gitVersion=v$upstream -X $is.gitMajor=1 -X $is.gitMinor=20"
done
"${build[@]}" -ldflags "$flags" -o "$work/kube-apiserver" ./cmd/kube-apiserver

mv "$work/root/usr/bin/etcd" "$work/kube-apiserver" "$work/versions" "$target"
