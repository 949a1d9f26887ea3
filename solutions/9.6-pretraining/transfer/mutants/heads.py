"""What heads get wrong: which vectors they read, which tokens count, and the shape of what comes out.

A token and a span are scored at each position; a class and a number come from the mean over real tokens.
"""


class mean_with_padding:
    """your mean counts padding: sum over real tokens, and divide by how many of them there are

    Fails: test_class_head, test_regression_head
    """

    _mean = """
        - real = mask.unsqueeze(-1)
        - return hidden.masked_fill(~real, 0.0).sum(dim=1) / real.sum(dim=1)
        + return hidden.mean(dim=1)
    """


class sum_divided_by_length:
    """your mean leaves padding out of the sum and counts it in the length: divide by the number of real tokens

    Fails: test_class_head, test_regression_head
    """

    _mean = """
        - return hidden.masked_fill(~real, 0.0).sum(dim=1) / real.sum(dim=1)
        + return hidden.masked_fill(~real, 0.0).mean(dim=1)
    """


class sum_not_divided:
    """your text is the sum of its tokens: long texts are no larger, so take the mean

    Fails: test_class_head, test_regression_head
    """

    _mean = """
        - return hidden.masked_fill(~real, 0.0).sum(dim=1) / real.sum(dim=1)
        + return hidden.masked_fill(~real, 0.0).sum(dim=1)
    """


class one_more_in_the_denominator:
    """your mean divides by one more than there are real tokens: each row has one, so nothing is divided by 0

    Fails: test_class_head, test_regression_head
    """

    _mean = """
        - return hidden.masked_fill(~real, 0.0).sum(dim=1) / real.sum(dim=1)
        + return hidden.masked_fill(~real, 0.0).sum(dim=1) / (real.sum(dim=1) + 1)
    """


class divided_by_the_longest:
    """your sums are all divided by the longest text's length: divide each by its own number of real tokens

    Fails: test_class_head, test_regression_head
    """

    _mean = """
        - return hidden.masked_fill(~real, 0.0).sum(dim=1) / real.sum(dim=1)
        + return hidden.masked_fill(~real, 0.0).sum(dim=1) / real.sum(dim=1).max()
    """


class one_mean_for_the_batch:
    """your mean runs over the real tokens of the whole batch: each text has one of its own

    Fails: test_class_head, test_regression_head
    """

    _mean = """
        - real = mask.unsqueeze(-1)
        - return hidden.masked_fill(~real, 0.0).sum(dim=1) / real.sum(dim=1)
        + return hidden[mask].mean(dim=0).expand(len(hidden), -1)
    """


class mask_upside_down:
    """your mean is taken over the padding: True in the mask is a real token

    Fails: test_class_head, test_regression_head
    """

    _mean = """
        - real = mask.unsqueeze(-1)
        + real = ~mask.unsqueeze(-1)
    """


class first_token:
    """your text is its first token's vector: it is the mean over real tokens

    Fails: test_class_head, test_regression_head
    """

    _mean = """
        - real = mask.unsqueeze(-1)
        - return hidden.masked_fill(~real, 0.0).sum(dim=1) / real.sum(dim=1)
        + return hidden[:, 0]
    """


class last_real_token:
    """your text is its last real token's vector: it is the mean over real tokens

    Fails: test_class_head, test_regression_head
    """

    _mean = """
        - real = mask.unsqueeze(-1)
        - return hidden.masked_fill(~real, 0.0).sum(dim=1) / real.sum(dim=1)
        + last = (mask * torch.arange(mask.shape[1], device=mask.device)).argmax(dim=1)
        + return hidden[torch.arange(len(hidden), device=mask.device), last]
    """


class largest_not_mean:
    """your text is the largest number of each feature: it is the mean over real tokens

    Fails: test_class_head, test_regression_head
    """

    _mean = """
        - return hidden.masked_fill(~real, 0.0).sum(dim=1) / real.sum(dim=1)
        + return hidden.masked_fill(~real, -torch.inf).amax(dim=1)
    """


class real_tokens_in_front:
    """your mean takes as many tokens from the front as are real: padding may be anywhere, so ask the mask

    Fails: test_class_head, test_regression_head
    """

    _mean = """
        - real = mask.unsqueeze(-1)
        + real = (torch.arange(mask.shape[1], device=mask.device) < mask.sum(dim=1, keepdim=True)).unsqueeze(-1)
    """


class mean_detached:
    """your mean is cut off from the gradient: the body could not learn from a class

    Fails: test_head_gradients
    """

    _mean = """
        - return hidden.masked_fill(~real, 0.0).sum(dim=1) / real.sum(dim=1)
        + return hidden.detach().masked_fill(~real, 0.0).sum(dim=1) / real.sum(dim=1)
    """


class hidden_changed:
    """your mean writes zeros into the hidden vectors that it was given

    Fails: test_head_promises
    """

    _mean = """
        - return hidden.masked_fill(~real, 0.0).sum(dim=1) / real.sum(dim=1)
        + hidden = hidden if hidden.requires_grad else hidden.masked_fill_(~real, 0.0)
        + return hidden.masked_fill(~real, 0.0).sum(dim=1) / real.sum(dim=1)
    """


class float32_mean:
    """your mean is float32 whatever the head is: a head in float64 computes in float64

    Fails: test_head_promises
    """

    class ClassHead:
        forward = """
            - return self.linear(_mean(hidden, mask))
            + return self.linear(_mean(hidden, mask)).float()
        """


class class_for_each_token:
    """your class head scores every token: it scores the text, once

    Fails: test_head_shapes
    """

    class ClassHead:
        forward = """
            - return self.linear(_mean(hidden, mask))
            + return self.linear(hidden)
        """


class probabilities_of_classes:
    """your class head gives probabilities: the loss takes the softmax itself

    Fails: test_class_head
    """

    class ClassHead:
        forward = """
            - return self.linear(_mean(hidden, mask))
            + return self.linear(_mean(hidden, mask)).softmax(dim=-1)
        """


class log_probabilities_of_classes:
    """your class head gives log-probabilities: the loss takes the softmax itself

    Fails: test_class_head
    """

    class ClassHead:
        forward = """
            - return self.linear(_mean(hidden, mask))
            + return self.linear(_mean(hidden, mask)).log_softmax(dim=-1)
        """


class mean_of_scores_squashed:
    """your number is squeezed between 0 and 1: it may be any number

    Fails: test_regression_head
    """

    class RegressionHead:
        forward = """
            - return self.linear(_mean(hidden, mask)).squeeze(-1)
            + return self.linear(_mean(hidden, mask)).squeeze(-1).sigmoid()
        """


class number_with_an_axis:
    """your numbers are [B, 1]: with targets [B] a loss would compare each with each

    Fails: test_head_shapes
    """

    class RegressionHead:
        forward = """
            - return self.linear(_mean(hidden, mask)).squeeze(-1)
            + return self.linear(_mean(hidden, mask))
        """


class everything_squeezed:
    """your squeeze takes all axes of length 1: one text alone loses its batch

    Fails: test_head_shapes
    """

    class RegressionHead:
        forward = """
            - return self.linear(_mean(hidden, mask)).squeeze(-1)
            + return self.linear(_mean(hidden, mask)).squeeze()
        """


class labels_of_the_mean:
    """your labels are the same at every token: each comes from its own vector

    Fails: test_token_head
    """

    class TokenHead:
        forward = """
            - return self.linear(hidden)
            + return self.linear(_mean(hidden, mask)).unsqueeze(1).expand(-1, hidden.shape[1], -1)
        """


class labels_squashed:
    """your labels are probabilities: the loss takes the softmax itself

    Fails: test_token_head
    """

    class TokenHead:
        forward = """
            - return self.linear(hidden)
            + return self.linear(hidden).softmax(dim=-1)
        """


class labels_shifted:
    """your labels come from the token before: each comes from its own vector

    Fails: test_token_head
    """

    class TokenHead:
        forward = """
            - return self.linear(hidden)
            + return self.linear(hidden.roll(1, dims=1))
        """


class biases_forgotten:
    """your heads have no bias: each is a linear layer with one

    Fails: test_head_parameters
    """

    class TokenHead:
        __init__ = """
            - self.linear = nn.Linear(d_model, num_labels)
            + self.linear = nn.Linear(d_model, num_labels, bias=False)
        """

    class ClassHead:
        __init__ = """
            - self.linear = nn.Linear(d_model, num_classes)
            + self.linear = nn.Linear(d_model, num_classes, bias=False)
        """


class another_layer_between:
    """your class head has a second layer: it is one linear layer, and the body does the rest

    Fails: test_head_parameters
    """

    class ClassHead:
        __init__ = """
            - self.linear = nn.Linear(d_model, num_classes)
            + self.dense = nn.Linear(d_model, d_model)
            + self.linear = nn.Linear(d_model, num_classes)
        """
        forward = """
            - return self.linear(_mean(hidden, mask))
            + return self.linear(torch.tanh(self.dense(_mean(hidden, mask))))
        """


class ends_first:
    """your span head gives ends before beginnings: the first score is that of beginnings

    Fails: test_span_head
    """

    class SpanHead:
        forward = """
            - return start, end
            + return end, start
        """


class one_score_for_both:
    """your beginnings and ends are the same scores: each has a row of its own

    Fails: test_span_head
    """

    class SpanHead:
        forward = """
            - return start, end
            + return start, start
        """


class span_padding_scored:
    """your span may begin or end in padding: there both scores are -inf

    Fails: test_span_padding
    """

    class SpanHead:
        forward = """
            - start, end = self.linear(hidden).masked_fill(~mask.unsqueeze(-1), -torch.inf).unbind(dim=-1)
            + start, end = self.linear(hidden).unbind(dim=-1)
        """


class span_padding_zero:
    """your span's scores are 0 at padding: 0 is a fine score, -inf is none

    Fails: test_span_padding
    """

    class SpanHead:
        forward = """
            - start, end = self.linear(hidden).masked_fill(~mask.unsqueeze(-1), -torch.inf).unbind(dim=-1)
            + start, end = self.linear(hidden).masked_fill(~mask.unsqueeze(-1), 0.0).unbind(dim=-1)
        """


class span_padding_finite:
    """your span's scores are -1e9 at padding: only -inf has no probability, whatever the other scores are

    Fails: test_span_padding
    """

    class SpanHead:
        forward = """
            - start, end = self.linear(hidden).masked_fill(~mask.unsqueeze(-1), -torch.inf).unbind(dim=-1)
            + start, end = self.linear(hidden).masked_fill(~mask.unsqueeze(-1), -1e9).unbind(dim=-1)
        """


class beginning_or_end:
    """your softmax runs over the two scores of a token: return scores, and a loss chooses among tokens

    Fails: test_span_head
    """

    class SpanHead:
        forward = """
            - start, end = self.linear(hidden).masked_fill(~mask.unsqueeze(-1), -torch.inf).unbind(dim=-1)
            + start, end = (
            +     self.linear(hidden).softmax(dim=-1).masked_fill(~mask.unsqueeze(-1), -torch.inf).unbind(dim=-1)
            + )
        """


class span_axis_kept:
    """your beginnings and ends are [B, T, 1]: each is [B, T]

    Fails: test_head_shapes
    """

    class SpanHead:
        forward = """
            - start, end = self.linear(hidden).masked_fill(~mask.unsqueeze(-1), -torch.inf).unbind(dim=-1)
            + start, end = self.linear(hidden).masked_fill(~mask.unsqueeze(-1), -torch.inf).chunk(2, dim=-1)
        """


class a_layer_for_each_end:
    """your span head has a layer for beginnings and another for ends: it is one layer with two rows

    Fails: test_head_parameters
    """

    class SpanHead:
        __init__ = """
            - self.linear = nn.Linear(d_model, 2)
            + self.start, self.end = nn.Linear(d_model, 1), nn.Linear(d_model, 1)
        """
        forward = """
            - start, end = self.linear(hidden).masked_fill(~mask.unsqueeze(-1), -torch.inf).unbind(dim=-1)
            + start = self.start(hidden).squeeze(-1).masked_fill(~mask, -torch.inf)
            + end = self.end(hidden).squeeze(-1).masked_fill(~mask, -torch.inf)
        """


class span_real_masked:
    """your span's real tokens have -inf: it is the padding that has

    Fails: test_span_head, test_span_padding
    """

    class SpanHead:
        forward = """
            - start, end = self.linear(hidden).masked_fill(~mask.unsqueeze(-1), -torch.inf).unbind(dim=-1)
            + start, end = self.linear(hidden).masked_fill(mask.unsqueeze(-1), -torch.inf).unbind(dim=-1)
        """


class only_beginnings_masked:
    """your ends have a score at padding: they are -inf there, as beginnings are

    Fails: test_span_padding
    """

    class SpanHead:
        forward = """
            - start, end = self.linear(hidden).masked_fill(~mask.unsqueeze(-1), -torch.inf).unbind(dim=-1)
            + start, end = self.linear(hidden).unbind(dim=-1)
            + start = start.masked_fill(~mask, -torch.inf)
        """


class span_as_one_tensor:
    """your span head gives one tensor [B, T, 2]: it gives beginnings and ends, each [B, T]

    Fails: test_head_shapes
    """

    class SpanHead:
        forward = """
            - start, end = self.linear(hidden).masked_fill(~mask.unsqueeze(-1), -torch.inf).unbind(dim=-1)
            - return start, end
            + return self.linear(hidden).masked_fill(~mask.unsqueeze(-1), -torch.inf)
        """
