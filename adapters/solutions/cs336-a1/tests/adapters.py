from cs336_basics import model, optimizer, tokenizer


def run_swiglu(d_model, d_ff, w1_weight, w2_weight, w3_weight, in_features):
    swiglu = model.SwiGLU(d_model, d_ff)
    swiglu.load_state_dict({"w1.weight": w1_weight, "w2.weight": w2_weight, "w3.weight": w3_weight})
    return swiglu(in_features)


def run_scaled_dot_product_attention(Q, K, V, mask=None):
    return model.attention(Q, K, V, mask)


def run_rope(d_k, theta, max_seq_len, in_query_or_key, token_positions):
    return model.RotaryPositionalEmbedding(theta, d_k, max_seq_len)(in_query_or_key, token_positions)


def run_rmsnorm(d_model, eps, weights, in_features):
    norm = model.RMSNorm(d_model, eps)
    norm.load_state_dict({"weight": weights})
    return norm(in_features)


def run_gradient_clipping(parameters, max_l2_norm):
    optimizer.clip(parameters, max_l2_norm)


def get_adamw_cls():
    return optimizer.AdamW


def run_get_lr_cosine_schedule(it, max_learning_rate, min_learning_rate, warmup_iters, cosine_cycle_iters):
    return optimizer.cosine_schedule(it, max_learning_rate, min_learning_rate, warmup_iters, cosine_cycle_iters)


def get_tokenizer(vocab, merges, special_tokens=None):
    return tokenizer.Tokenizer(vocab, merges, special_tokens)


def run_train_bpe(input_path, vocab_size, special_tokens, **kwargs):
    return tokenizer.train_bpe(input_path, vocab_size, special_tokens)
