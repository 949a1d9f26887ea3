"""How pairs are turned wrongly.

Columns 2i and 2i + 1 are a pair; it is turned by position · base^(-2i / D), counter-clockwise, and stays where it was.
"""


class halves_paired:
    """your pairs are columns i and i + D/2: here neighbours are a pair, 2i and 2i + 1

    Fails: test_rotate_values, test_rotate_lengths
    """

    rotate = """
        - first, second = x[..., 0::2], x[..., 1::2]
        + first, second = x.chunk(2, dim=-1)

        - return torch.stack(turned, dim=-1).flatten(-2)
        + return torch.cat(turned, dim=-1)
    """


class not_interleaved:
    """your turned pairs are laid out as two halves: column 2i goes back to 2i, and 2i + 1 to 2i + 1

    Fails: test_rotate_values, test_rotate_first, test_rotate_lengths
    """

    rotate = """
        - return torch.stack(turned, dim=-1).flatten(-2)
        + return torch.cat(turned, dim=-1)
    """


class turned_backwards:
    """your pairs are turned the other way round: the two sines have their signs exchanged

    Fails: test_rotate_values
    """

    rotate = """
        - turned = (first * cosine - second * sine, first * sine + second * cosine)
        + turned = (first * cosine + second * sine, second * cosine - first * sine)
    """


class both_plus:
    """your first column adds the sine's part: without a minus pairs grow and shrink instead of turning

    Fails: test_rotate_values, test_rotate_lengths
    """

    rotate = """
        - turned = (first * cosine - second * sine, first * sine + second * cosine)
        + turned = (first * cosine + second * sine, first * sine + second * cosine)
    """


class overwritten_too_early:
    """your second column is made from the first one after it was turned: keep the old one until both are done

    Fails: test_rotate_values, test_rotate_lengths
    """

    rotate = """
        - turned = (first * cosine - second * sine, first * sine + second * cosine)
        + first = first * cosine - second * sine
        + turned = (first, first * sine + second * cosine)
    """


class exponent_without_two:
    """your exponent is -i / D: of pair i it is -2i / D, down to almost -1

    Fails: test_rotate_values
    """

    rotate = """
        - frequency = base ** (-torch.arange(0, D, 2, device=x.device) / D)  # [D/2]
        + frequency = base ** (-torch.arange(D // 2, device=x.device) / D)  # [D/2]
    """


class base_ignored:
    """your frequencies are powers of 10000 whatever base is

    Fails: test_rotate_base
    """

    rotate = """
        - frequency = base ** (-torch.arange(0, D, 2, device=x.device) / D)  # [D/2]
        + frequency = 10000.0 ** (-torch.arange(0, D, 2, device=x.device) / D)  # [D/2]
    """


class encoding_added:
    """your sines and cosines are added to x: here they turn it, by products

    Fails: test_rotate_values, test_rotate_first, test_rotate_lengths
    """

    rotate = """
        - turned = (first * cosine - second * sine, first * sine + second * cosine)
        + turned = (first + sine, second + cosine)
    """


class two_layouts:
    """your angles are repeated as two halves but your pairs are neighbours: columns 2i and 2i + 1 share an angle

    Fails: test_rotate_values, test_rotate_lengths
    """

    rotate = """
        - first, second = x[..., 0::2], x[..., 1::2]
        - turned = (first * cosine - second * sine, first * sine + second * cosine)
        - return torch.stack(turned, dim=-1).flatten(-2)
        + cosine, sine = (torch.cat((part, part), dim=-1) for part in (cosine, sine))
        + swapped = torch.stack((-x[..., 1::2], x[..., 0::2]), dim=-1).flatten(-2)
        + return x * cosine + swapped * sine
    """


class exponent_without_minus:
    """your exponent is 2i / D: without its minus pairs turn faster and faster

    Fails: test_rotate_values
    """

    rotate = """
        - frequency = base ** (-torch.arange(0, D, 2, device=x.device) / D)  # [D/2]
        + frequency = base ** (torch.arange(0, D, 2, device=x.device) / D)  # [D/2]
    """


class all_pairs_alike:
    """your pairs all turn by the position itself: pair i turns base^(-2i / D) times as fast

    Fails: test_rotate_values
    """

    rotate = """
        - frequency = base ** (-torch.arange(0, D, 2, device=x.device) / D)  # [D/2]
        + frequency = torch.ones(D // 2, device=x.device)
    """


class sine_twice:
    """your columns are multiplied by the sine alone: at position 0, where nothing turns, they become 0

    Fails: test_rotate_first, test_rotate_values, test_rotate_lengths
    """

    rotate = """
        - cosine, sine = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
        + cosine = sine = angle.sin().to(x.dtype)
    """
