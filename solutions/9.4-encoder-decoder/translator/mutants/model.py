"""How the two halves are put together wrongly: what reads what, under which mask, and where it stands.

The encoder reads both ways and passes over padding; the decoder looks left, and at all of the memory that is real.
"""


class decoder_sees_ahead:
    """the words that follow get in: your decoder has no causal mask or masks after the softmax, or a norm runs over the
    positions

    Fails: test_causal, test_learning
    """

    class Translator:
        decode = """
            - causal = causal_mask(target.shape[1], device=target.device)
            + causal = None
        """


class encoder_causal:
    """your encoder reads under a causal mask: a source is read in both directions

    Fails: test_memory
    """

    class Translator:
        encode = """
            - return self.encoder(self.dropout(x), padding_mask(source, self.pad_id))
            + mask = padding_mask(source, self.pad_id) & causal_mask(source.shape[1], device=source.device)
            + return self.encoder(self.dropout(x), mask)
        """


class memory_causal:
    """your decoder looks at the memory under a causal mask: the whole source was there before the first word

    Fails: test_memory
    """

    class Translator:
        decode = """
            - return self.head(self.decoder(self.dropout(x), memory, causal, padding_mask(source, self.pad_id)))
            + T, S = target.shape[1], source.shape[1]
            + look = torch.ones(T, S, dtype=torch.bool, device=target.device).tril()
            + return self.head(self.decoder(self.dropout(x), memory, causal, padding_mask(source, self.pad_id) & look))
        """


class padding_read:
    """your encoder reads the padding: its attention needs the padding mask of the source

    Fails: test_padding_read
    """

    class Translator:
        encode = """
            - return self.encoder(self.dropout(x), padding_mask(source, self.pad_id))
            + return self.encoder(self.dropout(x))
        """


class padding_looked_at:
    """your decoder looks at the memory's padding: its cross-attention needs the padding mask of the source

    Fails: test_padding_looked_at
    """

    class Translator:
        decode = """
            - return self.head(self.decoder(self.dropout(x), memory, causal, padding_mask(source, self.pad_id)))
            + return self.head(self.decoder(self.dropout(x), memory, causal))
        """


class padding_is_zero:
    """your masks take token 0 for padding, whatever pad_id is

    Fails: test_padding_read, test_padding_looked_at, test_pad_id
    """

    class Translator:
        encode = """
            - return self.encoder(self.dropout(x), padding_mask(source, self.pad_id))
            + return self.encoder(self.dropout(x), padding_mask(source))
        """
        decode = """
            - return self.head(self.decoder(self.dropout(x), memory, causal, padding_mask(source, self.pad_id)))
            + return self.head(self.decoder(self.dropout(x), memory, causal, padding_mask(source)))
        """


class source_without_positions:
    """your source has no positions: an encoder alone reads a bag of words

    Fails: test_positions
    """

    class Translator:
        encode = """
            - x = self.source_words(source) + self.positions[: source.shape[1]]
            + x = self.source_words(source)
        """


class target_without_positions:
    """your target has no positions: attention alone takes what was written as a bag of words

    Fails: test_positions
    """

    class Translator:
        decode = """
            - x = self.target_words(target) + self.positions[: target.shape[1]]
            + x = self.target_words(target)
        """


class vocabularies_exchanged:
    """your two vocabularies are exchanged: source_vocab is for what is read, target_vocab for what is written

    Fails: test_shapes
    Costs: words beyond the table cannot be looked up, so hardly any model can be tried
    """

    class Translator:
        __init__ = """
            - self.source_words = nn.Embedding(source_vocab, d_model)
            - self.target_words = nn.Embedding(target_vocab, d_model)
            + self.source_words = nn.Embedding(target_vocab, d_model)
            + self.target_words = nn.Embedding(source_vocab, d_model)
        """


class head_of_the_source:
    """your head scores the words of the source's vocabulary: it is the target's that are written

    Fails: test_shapes
    Costs: logits of another width cannot be compared with anything
    """

    class Translator:
        __init__ = """
            - self.head = nn.Linear(d_model, target_vocab)
            + self.head = nn.Linear(d_model, source_vocab)
        """


class memory_detached:
    """your memory is detached: the encoder learns nothing

    Fails: test_model_gradients
    """

    class Translator:
        forward = """
            - return self.decode(target, self.encode(source), source)
            + return self.decode(target, self.encode(source).detach(), source)
        """


class memory_of_words:
    """your decoder looks at the encoder's input: the memory is the encoder's output

    Fails: test_memory
    """

    class Translator:
        encode = """
            - return self.encoder(self.dropout(x), padding_mask(source, self.pad_id))
            + self.encoder(self.dropout(x), padding_mask(source, self.pad_id))
            + return self.dropout(x)
        """


class memory_is_its_mean:
    """your memory is averaged to one vector: each target word chooses among all of its positions

    Fails: test_padding_looked_at
    """

    class Translator:
        decode = """
            + memory = memory.mean(dim=1, keepdim=True).expand_as(memory)
              causal = causal_mask(target.shape[1], device=target.device)
        """


class logits_softmaxed:
    """your logits are probabilities: the loss and the search take the softmax themselves

    Fails: test_scores
    """

    class Translator:
        decode = """
            - return self.head(self.decoder(self.dropout(x), memory, causal, padding_mask(source, self.pad_id)))
            + hidden = self.decoder(self.dropout(x), memory, causal, padding_mask(source, self.pad_id))
            + return self.head(hidden).softmax(dim=-1)
        """


class dropout_not_handed_on:
    """your dropout acts on nothing: pass it on to the encoder and to the decoder

    Fails: test_modes
    """

    class Translator:
        __init__ = """
            - self.dropout = nn.Dropout(dropout)
            - self.encoder = Encoder(num_layers, d_model, num_heads, d_ff, dropout)
            - self.decoder = Decoder(num_layers, d_model, num_heads, d_ff, dropout)
            + self.dropout = nn.Identity()
            + self.encoder = Encoder(num_layers, d_model, num_heads, d_ff)
            + self.decoder = Decoder(num_layers, d_model, num_heads, d_ff)
        """


class one_layer_only:
    """your decoder has one layer, whatever num_layers is

    Fails: test_sizes
    """

    class Translator:
        __init__ = """
            - self.decoder = Decoder(num_layers, d_model, num_heads, d_ff, dropout)
            + self.decoder = Decoder(1, d_model, num_heads, d_ff, dropout)
        """


class positions_in_float32:
    """your positions stay float32 when the model does not: keep them in a buffer, or cast them to the vectors' dtype

    Fails: test_model_promises
    """

    class Translator:
        __init__ = """
            - self.register_buffer("positions", sinusoidal_positions(max_len, d_model))
            + self.positions = sinusoidal_positions(max_len, d_model)
        """


class torchs_own_transformer:
    """your model makes a torch Transformer layer: build it from the given blocks

    Fails: test_from_scratch
    Costs: what rests on excluded code earns nothing
    """

    class Translator:
        forward = """
            + nn.TransformerDecoderLayer(4, 1, 4, batch_first=True)
              return self.decode(target, self.encode(source), source)
        """


class encoder_of_one_layer:
    """your encoder has one layer, whatever num_layers is

    Fails: test_sizes
    """

    class Translator:
        __init__ = """
            - self.encoder = Encoder(num_layers, d_model, num_heads, d_ff, dropout)
            + self.encoder = Encoder(1, d_model, num_heads, d_ff, dropout)
        """


class mask_upside_down:
    """your causal mask is the upper triangle: True marks what may be attended to, 0 to t

    Fails: test_causal
    """

    class Translator:
        decode = """
            - causal = causal_mask(target.shape[1], device=target.device)
            + causal = causal_mask(target.shape[1], device=target.device).T
        """


class target_shifted_in_decode:
    """your decode shifts the target by one: it is given what was written so far, and shifted already

    Fails: test_causal
    """

    class Translator:
        decode = """
            + target = torch.cat((target[:, :1], target[:, :-1]), dim=1)
              x = self.target_words(target) + self.positions[: target.shape[1]]
        """


class no_padding_mask:
    """your masks forget padding, in the encoder and with the memory

    Fails: test_padding_read, test_padding_looked_at
    """

    class Translator:
        encode = """
            - return self.encoder(self.dropout(x), padding_mask(source, self.pad_id))
            + return self.encoder(self.dropout(x))
        """
        decode = """
            - return self.head(self.decoder(self.dropout(x), memory, causal, padding_mask(source, self.pad_id)))
            + return self.head(self.decoder(self.dropout(x), memory, causal))
        """


class own_words_for_memory:
    """your decoder is given its own words as memory: cross-attention asks what the encoder has read

    Fails: test_sees_source, test_learning
    """

    class Translator:
        decode = """
            - return self.head(self.decoder(self.dropout(x), memory, causal, padding_mask(source, self.pad_id)))
            + return self.head(self.decoder(self.dropout(x), x, causal, causal))
        """


class source_not_handed_on:
    """your forward does not pass the source on to decode: its padding is attended to there

    Fails: test_forward
    """

    class Translator:
        forward = """
            - return self.decode(target, self.encode(source), source)
            + return self.decode(target, self.encode(source), torch.full_like(source, self.pad_id + 1))
        """


class batch_second:
    """your encoder is given [S, B, D]: words attend to other sentences, and not to their own

    Fails: test_rows
    """

    class Translator:
        encode = """
            - return self.encoder(self.dropout(x), padding_mask(source, self.pad_id))
            + return self.encoder(self.dropout(x).transpose(0, 1)).transpose(0, 1)
        """


class tokens_viewed:
    """your encode calls view on the tokens: what is not contiguous in memory needs reshape, or no flattening at all

    Fails: test_model_promises
    """

    class Translator:
        encode = """
            - x = self.source_words(source) + self.positions[: source.shape[1]]
            + x = self.source_words(source.view(-1)).view(*source.shape, -1) + self.positions[: source.shape[1]]
        """
