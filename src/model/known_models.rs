//! Models that are fetched by name: repository, commit, files with their sizes and SHA-256,
//! licence, memory, and what each is good for. A list, and nothing that acts on it.
//!
//! The hashes are of the hub's files at that commit, as others wrote them down who fetched them:
//! of weights two at least, of small files one. Where none was found there is none here: such a
//! file is checked by what the hub says of it when it is fetched.

use crate::model::hub_cache::{Commit, HubModel, Repository};

/// What a model is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelKind {
    Captioner,
    Embedder,
}

/// A model that `engram models pull` knows by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownModel {
    pub name: &'static str,
    pub kind: ModelKind,
    /// `organisation/name` on the hub.
    pub repository: &'static str,
    pub commit: &'static str,
    /// By its SPDX identifier.
    pub licence: &'static str,
    /// Megabytes of its weights as they lie in memory, in single precision; a captioner takes
    /// some hundred more while it works.
    pub memory_mb: u32,
    pub good_for: &'static str,
    pub files: &'static [KnownFile],
}

/// A file of a known model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownFile {
    pub path: &'static str,
    pub bytes: Option<u64>,
    pub sha256: Option<&'static str>,
}

impl KnownModel {
    /// The model of that name.
    pub fn of_name(name: &str) -> Option<&'static Self> {
        KNOWN.iter().find(|model| model.name == name)
    }

    /// The known model that this one of the hub is.
    pub fn of_hub(model: &HubModel, commit: &Commit) -> Option<&'static Self> {
        let is_it = |known: &&Self| {
            known.repository == model.repository.as_str() && known.commit == commit.as_str()
        };
        KNOWN.iter().find(is_it)
    }

    /// As the hub names it. `None` for none of the list, which a test holds.
    pub fn on_hub(&self) -> Option<HubModel> {
        let repository = Repository::parse(self.repository)?;
        Some(HubModel { repository, revision: Commit::parse(self.commit)?.into() })
    }

    /// Whether every file's hash is in this list.
    pub fn is_pinned(&self) -> bool {
        self.files.iter().all(|file| file.sha256.is_some())
    }

    /// Bytes to fetch, as far as they are known.
    pub fn bytes(&self) -> u64 {
        self.files.iter().filter_map(|file| file.bytes).sum()
    }
}

const fn file(path: &'static str, bytes: u64, sha256: &'static str) -> KnownFile {
    KnownFile { path, bytes: Some(bytes), sha256: Some(sha256) }
}

const fn unpinned(path: &'static str) -> KnownFile {
    KnownFile { path, bytes: None, sha256: None }
}

/// In the order in which they are listed.
pub const KNOWN: &[KnownModel] = &[
    KnownModel {
        name: "blip-base",
        kind: ModelKind::Captioner,
        repository: "Salesforce/blip-image-captioning-base",
        commit: "82a37760796d32b1411fe092ab5d4e227313294b",
        licence: "BSD-3-Clause",
        memory_mb: 990,
        good_for: "a sentence about a photograph; 247 million parameters",
        files: &[
            file(
                "config.json",
                4_563,
                "f7846f82f4e2c4a2ccbab9ae8b0e44873540a271a76a1288effd078180c13a82",
            ),
            file(
                "preprocessor_config.json",
                287,
                "065c10ec97edc5081fbd9655b3d9d25e2647ea6d5dab873325e88eed12d80a7d",
            ),
            file(
                "pytorch_model.bin",
                989_820_849,
                "d6638651a5526cc2ede56f2b5104d6851b0755816d220e5e046870430180c767",
            ),
            file(
                "special_tokens_map.json",
                125,
                "b6d346be366a7d1d48332dbc9fdf3bf8960b5d879522b7799ddba59e76237ee3",
            ),
            file(
                "tokenizer.json",
                711_396,
                "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66",
            ),
            file(
                "tokenizer_config.json",
                506,
                "5c7f96096284c55e539eff95f4451c19efc34258ddb975a4400d052b77301e5e",
            ),
            file(
                "vocab.txt",
                231_508,
                "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
            ),
        ],
    },
    KnownModel {
        name: "blip-large",
        kind: ModelKind::Captioner,
        repository: "Salesforce/blip-image-captioning-large",
        commit: "353689b859fcf0523410b1806dace5fb46ecdf41",
        licence: "BSD-3-Clause",
        memory_mb: 1880,
        good_for: "the same with 470 million parameters",
        files: &[
            unpinned("config.json"),
            KnownFile { path: "model.safetensors", bytes: Some(1_879_014_680), sha256: None },
            unpinned("preprocessor_config.json"),
            unpinned("special_tokens_map.json"),
            unpinned("tokenizer.json"),
            unpinned("tokenizer_config.json"),
            unpinned("vocab.txt"),
        ],
    },
    KnownModel {
        name: "florence-2-base",
        kind: ModelKind::Captioner,
        repository: "microsoft/Florence-2-base",
        commit: "5ca5edf5bd017b9919c05d08aebef5e4c7ac3bac",
        licence: "MIT",
        memory_mb: 930,
        good_for: "captions of photographs, with boxes where wanted; COCO CIDEr 133",
        files: &[
            file(
                "config.json",
                2_430,
                "c666d0fe0172d46e115e8fba6cd93cd83714575b33a73005cab8d24ce2a3aa8f",
            ),
            file(
                "model.safetensors",
                463_221_266,
                "03075d2d2d2bbd3e180b9ba0afae4aa8563226e2d32911656966e05b2f2ee060",
            ),
            file(
                "preprocessor_config.json",
                806,
                "2f5921bbc53c7cc04251e1027b45b1cec726276be6db23d1bb40641bfbe2cf29",
            ),
            file(
                "tokenizer.json",
                1_355_863,
                "847bbeab6174d66a88898f729d52fa8d355fafe1bea101cf960dd404581df70e",
            ),
            file(
                "tokenizer_config.json",
                34,
                "79ffcf43af8ebda99d165f61d243180da2e2639952e41e71e11611c18770489c",
            ),
            file(
                "vocab.json",
                1_099_884,
                "394fdc63c71aabe0a9b97117f5d62fb5fcc4d59b2b3ea929a3929e6a53217b3c",
            ),
        ],
    },
    KnownModel {
        name: "florence-2-large",
        kind: ModelKind::Captioner,
        repository: "microsoft/Florence-2-large",
        commit: "21a599d414c4d928c9032694c424fb94458e3594",
        licence: "MIT",
        memory_mb: 3110,
        good_for: "the same; COCO CIDEr 136",
        files: &[
            file(
                "config.json",
                2_445,
                "6f8a8f92a74ce18b5c1e5646b4a8222477dd1ac49f31b953e75d6fc3e0f8583a",
            ),
            file(
                "generation_config.json",
                51,
                "30e9865458ecc8ee931eeeb43f44f1d169c5ab95be39e0072142a7a6b8f31990",
            ),
            file(
                "model.safetensors",
                1_553_563_458,
                "4f38ce741c6b71188fe2b3419a55e11917a8a7b321ae2e63c61da0191b0ebad7",
            ),
            file(
                "preprocessor_config.json",
                806,
                "2f5921bbc53c7cc04251e1027b45b1cec726276be6db23d1bb40641bfbe2cf29",
            ),
            file(
                "tokenizer.json",
                1_355_863,
                "847bbeab6174d66a88898f729d52fa8d355fafe1bea101cf960dd404581df70e",
            ),
            file(
                "tokenizer_config.json",
                34,
                "79ffcf43af8ebda99d165f61d243180da2e2639952e41e71e11611c18770489c",
            ),
            file(
                "vocab.json",
                1_099_884,
                "394fdc63c71aabe0a9b97117f5d62fb5fcc4d59b2b3ea929a3929e6a53217b3c",
            ),
        ],
    },
    KnownModel {
        name: "smolvlm-256m",
        kind: ModelKind::Captioner,
        repository: "HuggingFaceTB/SmolVLM-256M-Instruct",
        commit: "7e3e67edbbed1bf9888184d9df282b700a323964",
        licence: "Apache-2.0",
        memory_mb: 1030,
        good_for: "photographs in a sentence or some; 256 million parameters",
        files: &[
            file(
                "config.json",
                7_353,
                "b70fb4bfde88df9eeebc9d8ff523733b8bf70d6c9b06c610325960e06ae9db52",
            ),
            file(
                "model.safetensors",
                513_028_808,
                "74dea5904032e5ae99a2e0eef5179e6ac0f1dedc3ab0c7c2a5d4d387c843203e",
            ),
            file(
                "added_tokens.json",
                4_739,
                "74135b8664b56088c0006f1c8e848d79a8eba003411f72ebf1dc2ee96227be3a",
            ),
            file(
                "chat_template.json",
                429,
                "a68ad1a42681ae44eacd109ff8dd56a840f761c03d72f4ff4c515d092f882168",
            ),
            file(
                "generation_config.json",
                136,
                "067a2a54e5f87162ecac6e0e911cc4665fc8f7f3324794ecbac0f76badb56636",
            ),
            file(
                "merges.txt",
                466_391,
                "0b54e8aa4e53d5383e2e4bc635a56b43f9647f7b13832d5d9ecd8f82dac4f510",
            ),
            file(
                "preprocessor_config.json",
                486,
                "6cb6e36d6fcb88ca1502c4a26750715dc3e7dedddc9a8f17b27d8d167d1457e7",
            ),
            file(
                "processor_config.json",
                68,
                "e7bff42da73ae9eec9042ef20e066e11f1ee20f025358ff79131e3c0fb549b46",
            ),
            file(
                "special_tokens_map.json",
                1_069,
                "aa0ff906077086dfa9734a7f97f68c825877a48f9468807be65504495cdeef09",
            ),
            file(
                "tokenizer.json",
                3_548_256,
                "5ece781dc8d2b2f3e2f289ca0ae50b17cfc27dd27bfe7971bb8241e0b964331a",
            ),
            file(
                "tokenizer_config.json",
                28_249,
                "36c6fd44d07d10fd8180ee6b46dcccf69fb7c06753968ff0d7e17b8bfe17b777",
            ),
            file(
                "vocab.json",
                800_662,
                "82b84012e3add4d01d12ba14442026e49b8cbbaead1f79ecf3d919784f82dc79",
            ),
        ],
    },
    KnownModel {
        name: "smolvlm-500m",
        kind: ModelKind::Captioner,
        repository: "HuggingFaceTB/SmolVLM-500M-Instruct",
        commit: "a7da5b986cb59b408707209984f360a5f4ad7e47",
        licence: "Apache-2.0",
        memory_mb: 2030,
        good_for: "the same with twice the parameters",
        files: &[
            KnownFile {
                path: "config.json",
                bytes: None,
                sha256: Some("daacbbca6af3c34e50466c72aed2df4553a08084f6a0551d4ae420a241cb66c6"),
            },
            file(
                "model.safetensors",
                1_015_025_832,
                "d05b567eeaf534e83d375551f068ed57b5f52d37c657197f644af5ef9db091a2",
            ),
            file(
                "added_tokens.json",
                4_739,
                "74135b8664b56088c0006f1c8e848d79a8eba003411f72ebf1dc2ee96227be3a",
            ),
            file(
                "chat_template.json",
                429,
                "a68ad1a42681ae44eacd109ff8dd56a840f761c03d72f4ff4c515d092f882168",
            ),
            file(
                "generation_config.json",
                136,
                "067a2a54e5f87162ecac6e0e911cc4665fc8f7f3324794ecbac0f76badb56636",
            ),
            file(
                "merges.txt",
                466_391,
                "0b54e8aa4e53d5383e2e4bc635a56b43f9647f7b13832d5d9ecd8f82dac4f510",
            ),
            file(
                "preprocessor_config.json",
                486,
                "6cb6e36d6fcb88ca1502c4a26750715dc3e7dedddc9a8f17b27d8d167d1457e7",
            ),
            file(
                "processor_config.json",
                68,
                "e7bff42da73ae9eec9042ef20e066e11f1ee20f025358ff79131e3c0fb549b46",
            ),
            file(
                "special_tokens_map.json",
                1_069,
                "aa0ff906077086dfa9734a7f97f68c825877a48f9468807be65504495cdeef09",
            ),
            file(
                "tokenizer.json",
                3_548_256,
                "5ece781dc8d2b2f3e2f289ca0ae50b17cfc27dd27bfe7971bb8241e0b964331a",
            ),
            file(
                "tokenizer_config.json",
                28_249,
                "36c6fd44d07d10fd8180ee6b46dcccf69fb7c06753968ff0d7e17b8bfe17b777",
            ),
            file(
                "vocab.json",
                800_662,
                "82b84012e3add4d01d12ba14442026e49b8cbbaead1f79ecf3d919784f82dc79",
            ),
        ],
    },
    KnownModel {
        name: "all-minilm-l6-v2",
        kind: ModelKind::Embedder,
        repository: "sentence-transformers/all-MiniLM-L6-v2",
        commit: "1110a243fdf4706b3f48f1d95db1a4f5529b4d41",
        licence: "Apache-2.0",
        memory_mb: 91,
        good_for: "free notes a fifth better than the shipped one, its pupil",
        files: &[
            file(
                "1_Pooling/config.json",
                190,
                "4be450dde3b0273bb9787637cfbd28fe04a7ba6ab9d36ac48e92b11e350ffc23",
            ),
            file(
                "config.json",
                612,
                "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
            ),
            file(
                "config_sentence_transformers.json",
                116,
                "061ca9d39661d6c6d6de5ba27f79a1cd5770ea247f8d46412a68a498dc5ac9f3",
            ),
            file(
                "model.safetensors",
                90_868_376,
                "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
            ),
            file(
                "modules.json",
                349,
                "84e40c8e006c9b1d6c122e02cba9b02458120b5fb0c87b746c41e0207cf642cf",
            ),
            file(
                "sentence_bert_config.json",
                53,
                "fc1993fde0a95c24ec6c022539d41cf6e2f7c9721e5415d6fb6897472a9cd4b7",
            ),
            file(
                "special_tokens_map.json",
                112,
                "303df45a03609e4ead04bc3dc1536d0ab19b5358db685b6f3da123d05ec200e3",
            ),
            file(
                "tokenizer.json",
                466_247,
                "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
            ),
            file(
                "tokenizer_config.json",
                350,
                "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b",
            ),
            file(
                "vocab.txt",
                231_508,
                "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
            ),
        ],
    },
    KnownModel {
        name: "bge-small-en-v1.5",
        kind: ModelKind::Embedder,
        repository: "BAAI/bge-small-en-v1.5",
        commit: "5c38ec7c405ec4b44b94cc5a9bb96e735b38267a",
        licence: "MIT",
        memory_mb: 133,
        good_for: "questions and the texts that answer them",
        files: &[
            file(
                "1_Pooling/config.json",
                190,
                "d1caf60c96f5fba2157c0c26b76d80818fad6cf0b8eb5e73ec372ff9818eba5c",
            ),
            file(
                "config.json",
                743,
                "094f8e891b932f2000c92cfc663bac4c62069f5d8af5b5278c4306aef3084750",
            ),
            file(
                "config_sentence_transformers.json",
                124,
                "940d5f50db195fa6e5e6a4f122c095f77880de259d74b14a65779ed48bdd7c56",
            ),
            file(
                "model.safetensors",
                133_466_304,
                "3c9f31665447c8911517620762200d2245a2518d6e7208acc78cd9db317e21ad",
            ),
            file(
                "modules.json",
                349,
                "84e40c8e006c9b1d6c122e02cba9b02458120b5fb0c87b746c41e0207cf642cf",
            ),
            file(
                "sentence_bert_config.json",
                52,
                "84e39fda68ccbff05bfa723ae9c0e70e23e2ec373b76e0f8c6e71af72a693cbf",
            ),
            file(
                "special_tokens_map.json",
                125,
                "b6d346be366a7d1d48332dbc9fdf3bf8960b5d879522b7799ddba59e76237ee3",
            ),
            file(
                "tokenizer.json",
                711_396,
                "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66",
            ),
            file(
                "tokenizer_config.json",
                366,
                "9261e7d79b44c8195c1cada2b453e55b00aeb81e907a6664974b4d7776172ab3",
            ),
            file(
                "vocab.txt",
                231_508,
                "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
            ),
        ],
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    use std::collections::BTreeSet;

    use crate::model::hub_cache::{is_file_name, is_hex};

    #[test]
    fn the_list_is_of_models_that_the_hub_could_have() {
        let names: BTreeSet<&str> = KNOWN.iter().map(|it| it.name).collect();
        assert_eq!(names.len(), KNOWN.len());
        for model in KNOWN {
            let on_hub = model.on_hub().unwrap();
            let commit = on_hub.revision.commit().unwrap();
            assert_eq!(KnownModel::of_hub(&on_hub, &commit).unwrap().name, model.name);
            let paths: BTreeSet<&str> = model.files.iter().map(|it| it.path).collect();
            assert_eq!(paths.len(), model.files.len(), "{}", model.name);
            assert!(paths.contains("config.json") && paths.contains("tokenizer.json"));
            for file in model.files {
                assert!(is_file_name(file.path), "{}", file.path);
                assert!(file.sha256.is_none_or(|hash| is_hex(hash, 64)), "{}", file.path);
            }
            // Single precision: no weights take less memory than their file in it.
            assert!(
                u64::from(model.memory_mb + 1) * 1_000_000 > model.bytes() / 2,
                "{}",
                model.name
            );
        }
    }

    #[test]
    fn one_model_is_not_pinned_whole() {
        let open: Vec<&str> = KNOWN.iter().filter(|it| !it.is_pinned()).map(|it| it.name).collect();
        assert_eq!(open, ["blip-large"]);
    }

    #[test]
    fn names_are_found_as_they_are_written() {
        assert_eq!(KnownModel::of_name("bge-small-en-v1.5").unwrap().licence, "MIT");
        assert_eq!(KnownModel::of_name("BLIP-base"), None);
    }
}
