//! Names of a Florence-2's weights: Microsoft's become those of `transformers`. Knows names,
//! not what they are for.

use candle_core::Result;

use crate::model::florence::projector::TRANSPOSED;
use crate::model::tensors::Tensors;

/// Beginnings of names, in either layout, and what they become.
const BEGINNINGS: [(&str, &str); 5] = [
    ("language_model.lm_head.", "lm_head."),
    ("language_model.model.", "language_model."),
    ("image_proj_norm.", "multi_modal_projector.image_proj_norm."),
    ("image_pos_embed.", "multi_modal_projector.image_position_embed."),
    ("model.", ""),
];

/// What Microsoft's names have within, and what they become.
const PARTS: [(&str, &str); 8] = [
    (".conv1.fn.dw.", ".conv1."),
    (".conv2.fn.dw.", ".conv2."),
    (".window_attn.norm.", ".norm1."),
    (".channel_attn.norm.", ".norm1."),
    (".ffn.norm.", ".norm2."),
    (".window_attn.fn.", ".window_attn."),
    (".channel_attn.fn.", ".channel_attn."),
    (".ffn.fn.net.", ".ffn."),
];

/// The table of tokens, and what it is called where a file leaves it out: all are tied.
const WORDS: &str = "language_model.shared.weight";
const TIED: [&str; 3] = [
    "lm_head.weight",
    "language_model.encoder.embed_tokens.weight",
    "language_model.decoder.embed_tokens.weight",
];

/// Weights of either layout under one set of names.
pub(super) fn under_one_name(mut tensors: Tensors) -> Result<Tensors> {
    tensors.rename(|name| renamed(&name));
    for tied in TIED {
        tensors.alias(WORDS, tied)?;
    }
    Ok(tensors)
}

fn renamed(name: &str) -> String {
    if name == "image_projection" {
        return format!("multi_modal_projector.{TRANSPOSED}");
    }
    let mut renamed = name.to_owned();
    for (old, new) in BEGINNINGS {
        if let Some(rest) = name.strip_prefix(old) {
            renamed = format!("{new}{rest}");
            break;
        }
    }
    for (old, new) in PARTS {
        renamed = renamed.replace(old, new);
    }
    if renamed.starts_with("vision_tower.convs.") {
        renamed = renamed.replace(".proj.", ".conv.");
    }
    renamed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_layouts_have_one_set_of_names() {
        let block = "vision_tower.blocks.2.7";
        let pairs = [
            ("vision_tower.convs.1.proj.weight", "model.vision_tower.convs.1.conv.weight"),
            ("vision_tower.convs.1.norm.bias", "model.vision_tower.convs.1.norm.bias"),
            (
                "image_pos_embed.row_embeddings.weight",
                "model.multi_modal_projector.image_position_embed.row_embeddings.weight",
            ),
            ("image_proj_norm.bias", "model.multi_modal_projector.image_proj_norm.bias"),
            ("language_model.model.shared.weight", "model.language_model.shared.weight"),
            (
                "language_model.model.decoder.layers.0.encoder_attn.k_proj.bias",
                "model.language_model.decoder.layers.0.encoder_attn.k_proj.bias",
            ),
            ("language_model.lm_head.weight", "lm_head.weight"),
        ];
        for (theirs, native) in pairs {
            assert_eq!(renamed(theirs), renamed(native));
        }
        let within = [
            ("spatial_block.conv1.fn.dw.weight", "spatial_block.conv1.weight"),
            ("spatial_block.window_attn.norm.weight", "spatial_block.norm1.weight"),
            ("spatial_block.window_attn.fn.proj.bias", "spatial_block.window_attn.proj.bias"),
            ("channel_block.channel_attn.norm.bias", "channel_block.norm1.bias"),
            ("channel_block.channel_attn.fn.qkv.weight", "channel_block.channel_attn.qkv.weight"),
            ("channel_block.conv2.fn.dw.bias", "channel_block.conv2.bias"),
            ("channel_block.ffn.norm.weight", "channel_block.norm2.weight"),
            ("channel_block.ffn.fn.net.fc2.weight", "channel_block.ffn.fc2.weight"),
        ];
        for (theirs, native) in within {
            let theirs = renamed(&format!("{block}.{theirs}"));
            assert_eq!(theirs, renamed(&format!("model.{block}.{native}")));
            assert_eq!(theirs, format!("{block}.{native}"));
        }
        assert_eq!(renamed("image_projection"), format!("multi_modal_projector.{TRANSPOSED}"));
        assert_eq!(renamed("language_model.final_logits_bias"), "language_model.final_logits_bias");
    }
}
