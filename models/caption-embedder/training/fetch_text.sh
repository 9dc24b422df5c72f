#!/bin/sh
# Downloads the Debian packages whose English text the corpus is built from and unpacks them, without
# installing anything. Usage: fetch_text.sh WORK   (leaves the files in WORK/root)
set -eu
mkdir -p "$1/debs" "$1/root"
work=$(realpath "$1")
cd "$work/debs"
# The packages of the second line are read by evaluate.py only: they are held out of the training.
apt-get download wordnet-base dict-gcide dict-foldoc anarchism endless-sky-data gnome-user-docs cataclysm-dda-data fortunes \
    dict-jargon dict-devil wesnoth-1.16-l wesnoth-1.16-did wesnoth-1.16-sof
for package in *.deb; do
    dpkg-deb -x "$package" "$work/root"
done
