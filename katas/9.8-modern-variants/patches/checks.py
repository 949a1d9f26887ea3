"""Checks of 9.8.3. Patches are compared with slices, logits with a model in torch's own operators, in float64."""

from __future__ import annotations

import functools
import importlib.util
from pathlib import Path

import torch
from torch.nn import functional as F

from grader.checks import (
    Part,
    check,
    expect,
    expect_from_scratch,
    expect_gradients,
    expect_parameter_gradients,
    expect_raises,
    fail,
    given_module,
    oracle,
    precondition,
    stand_in,
    supposing,
    with_axes,
)

PATCHES, IMAGES, LOGITS = "batch patch number", "batch channel row column", "batch class"
SIDE, SIZE, CHANNELS, CLASSES = 6, 2, 3, 5
D, H, FF, LAYERS = 8, 2, 11, 2
N = (SIDE // SIZE) ** 2
ONE_PARAMETER = ("class_token", "positions")


def load_shapes():
    spec = importlib.util.spec_from_file_location("kata_shapes", Path(__file__).with_name("shapes.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


shapes = load_shapes()


# --- the oracles ---


def corners(height, width, size):
    """Return where patches begin, in their order."""
    return [(top, left) for top in range(0, height, size) for left in range(0, width, size)]


def cut(size):
    """Return the right images -> patches, slice by slice."""

    def patches(images):
        found = [
            images[:, :, top : top + size, left : left + size].flatten(1)
            for top, left in corners(*images.shape[2:], size)
        ]
        return torch.stack(found, dim=1)

    return patches


def joined(size, height, width):
    """Return the right patches -> images, patch by patch."""

    def images(patches):
        rows = []
        for first in range(0, patches.shape[1], width // size):
            row = [patches[:, first + i].unflatten(1, (-1, size, size)) for i in range(width // size)]
            rows.append(torch.cat(row, dim=3))
        return torch.cat(rows, dim=2)

    return images


@stand_in("patchify")
def right_patchify(images, size):
    return cut(size)(images)


def right_unpatchify(patches, size, height, width):
    return joined(size, height, width)(patches)


def linear(x, state, name):
    return F.linear(x, state[f"{name}.weight"], state[f"{name}.bias"])


def norm(x, state, name):
    return F.layer_norm(x, x.shape[-1:], state[f"{name}.weight"], state[f"{name}.bias"])


def encode(x, state, layers, heads=H):
    for part in (f"encoder.layers.{index}" for index in range(layers)):
        y = norm(x, state, f"{part}.norm1")
        q, k, v = (
            linear(y, state, f"{part}.attention.{name}").unflatten(-1, (heads, -1)).transpose(1, 2)
            for name in ("w_q", "w_k", "w_v")
        )
        y = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)
        x = x + linear(y, state, f"{part}.attention.w_o")
        hidden = F.relu(linear(norm(x, state, f"{part}.norm2"), state, f"{part}.feed_forward.linear1"))
        x = x + linear(hidden, state, f"{part}.feed_forward.linear2")
    return norm(x, state, "encoder.norm")


def classify(images, state, size=SIZE, layers=LAYERS):
    """Return the right logits."""
    x = linear(cut(size)(images), state, "embedding")
    token = state["class_token"].view(1, 1, -1).expand(len(x), -1, -1)
    x = torch.cat((token, x), dim=1) + state["positions"]
    return linear(encode(x, state, layers)[:, 0], state, "head")


# --- what shows a mistake in any design ---


def inside_slips(images):
    """Return what one patch holds whose axes are in another order."""

    def by(*order):
        return images.permute(0, *order).flatten(1)[:, None]

    return {
        "your patches hold the channels of each pixel side by side; all of the first channel should come "
        "first": lambda: [
            by(2, 3, 1),
            by(3, 2, 1),
        ],
        "your patches hold each channel's pixels column by column; they should hold them row by row": lambda: (
            by(1, 3, 2)
        ),
        "your patches hold a row of each channel after the other; all rows of the first channel should come "
        "first": lambda: [
            by(2, 1, 3),
            by(3, 1, 2),
        ],
    }


def value_slips(images, state):
    """Return what mistakes on the way from images to logits give, with the parameters of the model."""
    images, state = images.cpu().double(), {name: tensor.cpu().double() for name, tensor in state.items()}

    def by(pixels=lambda x: x, put=None, read=lambda hidden: hidden[:, 0], last=lambda x: x, layers=LAYERS):
        patches = linear(cut(SIZE)(pixels(images)), state, "embedding")
        token = state["class_token"].view(1, 1, -1).expand(len(patches), -1, -1)
        x = put(token, patches) if put else torch.cat((token, patches), dim=1) + state["positions"]
        return last(linear(read(encode(x, state, layers)), state, "head")).float()

    def joined_to(token, patches, places):
        return torch.cat((token, patches), dim=1) + places

    rows = state["positions"]
    return {
        "your model divides pixels by 255; it should take them as they are": lambda: by(lambda x: x / 255),
        "your model moves or scales pixels; it should take them as they are": lambda: [
            by(change)
            for change in (
                lambda x: x / 127.5 - 1,
                lambda x: x / 255 * 2 - 1,
                lambda x: (x - 0.5) / 0.5,
                lambda x: x - x.mean(),
                lambda x: (x - x.mean()) / x.std(),
                lambda x: (x - x.mean((1, 2, 3), keepdim=True)) / x.std((1, 2, 3), keepdim=True),
            )
        ],
        "your head reads the mean of all outputs; it should read only that of the class token": lambda: by(
            read=lambda hidden: hidden.mean(1)
        ),
        "your head reads the mean of the patches; it should read only the class token's output": lambda: by(
            read=lambda hidden: hidden[:, 1:].mean(1)
        ),
        "your head reads the last patch; it should read the class token, which is in front": lambda: by(
            read=lambda hidden: hidden[:, -1]
        ),
        "your head reads the first patch, as the class token was put at the end; "
        "put the class token in front": lambda: by(
            read=lambda hidden: hidden[:, 1]
        ),
        "your class token comes after the patches; it should come first": lambda: [
            by(
                put=lambda token, patches: torch.cat((patches, token), 1) + rows,
                read=lambda hidden: hidden[:, place],
            )
            for place in (0, -1)
        ],
        "your model never adds its positions, so it sees a bag of patches; add them before the encoder": lambda: by(
            put=lambda token, patches: joined_to(token, patches, 0)
        ),
        "your positions are added only to the patches; add row 0 to the class token": lambda: [
            by(put=lambda token, patches: torch.cat((token, patches + places), 1))
            for places in (rows[1:], rows[:-1])
        ],
        "your positions are row 0 for every token; each should have a row of its own": lambda: by(
            put=lambda token, patches: joined_to(token, patches, rows[:1])
        ),
        "your positions are multiplied with the tokens; they should be added": lambda: by(
            put=lambda token, patches: torch.cat((token, patches), 1) * rows
        ),
        "your model never calls its encoder, so the class token cannot look at the patches; "
        "call it before the head": lambda: by(
            layers=0
        ),
        "your model scales the embedded patches by the root of D; it should take them as they are": lambda: (
            by(put=lambda token, patches: joined_to(token, patches * D**0.5, rows))
        ),
        "your model returns probabilities; return logits, as cross-entropy does its own softmax": lambda: by(
            last=lambda x: x.softmax(1)
        ),
        "your model returns logarithms of probabilities; it should return logits, the numbers before the "
        "softmax": lambda: by(last=lambda x: x.log_softmax(1)),
        "your model normalises once more before the head; leave that out, as the encoder already ends in a "
        "norm": lambda: by(read=lambda hidden: F.layer_norm(hidden[:, 0], [D])),
    }


# --- helpers ---


def counted(draw, *sizes):
    """Return 0, 1, 2, … in this shape: every number says where it came from."""
    return torch.arange(float(torch.Size(sizes).numel()), device=draw.device).view(sizes)


def pictures(draw, batch=2, channels=CHANNELS, height=SIDE, width=SIDE, **options):
    return draw.normal(batch=batch, channel=channels, row=height, column=width, **options)


def weights(patches=N, layers=LAYERS):
    """Return the shapes of all parameters but biases: of rows and columns, or of features."""
    found = {"class_token": [D], "positions": [patches + 1, D], "embedding.weight": [D, CHANNELS * SIZE**2]}
    for part in (f"encoder.layers.{index}" for index in range(layers)):
        found |= {f"{part}.attention.{name}.weight": [D, D] for name in ("w_q", "w_k", "w_v", "w_o")}
        found |= {
            f"{part}.feed_forward.linear1.weight": [FF, D],
            f"{part}.feed_forward.linear2.weight": [D, FF],
        }
        found |= {f"{part}.norm1.weight": [D], f"{part}.norm2.weight": [D]}
    return found | {"encoder.norm.weight": [D], "head.weight": [CLASSES, D]}


def drawn_state(draw, **sizes):
    """Draw every parameter of a model, norms included: fresh ones do nothing that could be told apart."""
    state = {}
    for name, shape in weights(**sizes).items():
        if name in ONE_PARAMETER:
            state[name] = draw.normal(position=shape[0], width=D) if len(shape) == 2 else draw.normal(width=D)
        elif len(shape) == 2:
            state[name] = draw.normal(out=shape[0], width=shape[1], scale=1.5 * shape[1] ** -0.5)
        else:
            state[name] = draw.normal(width=shape[0], scale=0.5, shift=1.0)
        if name.endswith(".weight"):
            state[name.replace(".weight", ".bias")] = draw.normal(width=shape[0], scale=0.5)
    return state


def silent(state):
    """Return the state with an encoder whose layers add nothing."""
    last = ("attention.w_o", "feed_forward.linear2")
    return {
        name: torch.zeros_like(tensor) if name.rpartition(".")[0].endswith(last) else tensor
        for name, tensor in state.items()
    }


def own_name(name, own):
    """Return what a model calls this parameter, or None: `positions` may be inside of a module of that name.

    What embeds may stand inside of another module as well, as long as there is one weight and one bias.
    """
    part, _, last = name.partition(".")
    ends = f".{last}" if part == "embedding" else ""
    found = [
        each
        for each in own
        if each == name
        or ((name in ONE_PARAMETER or ends) and each.startswith(f"{part}.") and each.endswith(ends))
    ]
    return found[0] if len(found) == 1 or name in found else None


def loaded(model, state):
    """Load these parameters into a model; return it, in eval mode, with what it now computes with.

    What is another check's affair counts as it is: a bias that is not there as zero, positions without a row for the
    class token as a row of zeros, a class token for every image as the same one for all.
    """
    own, load, now = model.state_dict(), {}, dict(state)
    for name, tensor in state.items():
        called = own_name(name, own)
        if called is None and name.endswith(".bias"):
            now[name] = torch.zeros_like(tensor)
            continue
        if called is None:
            fail(f"no parameter  {name}  it cannot be loaded", stage="names")
        room = own[called]
        if name == "positions" and room.numel() == tensor.numel() - D:
            now[name] = tensor * (torch.arange(len(tensor)) > 0)[:, None].to(tensor)
            tensor = tensor[1:]
        if name == "class_token" and room.numel() % D == 0 and room.ndim:
            tensor = tensor.expand(room.numel() // D, D)
        if room.numel() != tensor.numel():
            fail(
                f"wrong size  {name}  is {list(room.shape)}, so {list(tensor.shape)} cannot be loaded",
                stage="names",
            )
        load[called] = tensor.reshape(room.shape)
    model.load_state_dict(load, strict=False)
    model.eval()
    return model, now


def built(submission, draw, layers=LAYERS, **changes):
    """Return a small model with drawn parameters, and these."""
    model = submission.VisionTransformer(SIDE, SIZE, CHANNELS, CLASSES, D, H, FF, layers)
    model.to(draw.device)
    return loaded(model, drawn_state(draw, layers=layers) | changes)


def logits_of(model, images, name="logits", classes=CLASSES):
    with torch.no_grad():
        logits = model(with_axes(images, *IMAGES.split()))
    return expect(logits, name, axes=LOGITS).is_tensor(shape=(len(images), classes)).is_finite()


def plain_logits(model, images):
    """Call the model where that it gives finite logits at all is another check's affair."""
    with precondition("the model must give finite logits [B, K]"):
        return logits_of(model, images).actual


# --- patchify ---


@check(aspect="shape")
def test_patch_shapes(submission, draw):
    """images [B, C, H, W] become patches [B, N, C · size²], for any sides

    > [B, N, C · size²] with N = (H / size) · (W / size).
    """
    for batch, channels, height, width, size in ((2, 3, 6, 4, 2), (1, 1, 3, 9, 3), (3, 2, 5, 5, 5)):
        patches = submission.patchify(pictures(draw, batch, channels, height, width), size)
        wanted = (batch, height * width // size**2, channels * size**2)
        expect(patches, f"patches of {size} x {size}", axes=PATCHES).is_tensor(
            shape=wanted, dtype=torch.float32
        )


@check(aspect="values", points=2, follows=test_patch_shapes)
def test_patch_order(submission, draw):
    """patches come row by row, each from left to right

    > Patches come row by row: those of the topmost row from left to right, then the row below.
    """
    for height, width, size in ((6, 6, 2), (6, 6, 3)):
        # Every patch is of one number, so the order inside is not looked at. Other sides are for test_patches.
        rows, columns = height // size, width // size
        numbers = torch.arange(1.0, rows * columns + 1, device=draw.device).view(1, 1, rows, columns)
        images = numbers.repeat_interleave(size, 2).repeat_interleave(size, 3).expand(2, CHANNELS, -1, -1)
        images = with_axes(images.contiguous(), *IMAGES.split())
        patches = submission.patchify(images, size)
        by_columns = cut(size)(images).unflatten(1, (rows, columns)).transpose(1, 2).flatten(1, 2)
        say = "your patches come column by column; those of the topmost row should come first, from left to right"
        with supposing({say: lambda: by_columns}):
            expect(patches, f"patches of a {height} x {width} image", axes=PATCHES).equals(
                cut(size)(images),
                why="pixel (row, column) belongs to patch row // size · (W / size) + column // size",
            )


@check(aspect="values", points=2, follows=test_patch_shapes)
def test_inside_a_patch(submission, draw):
    """in a patch the channels follow one another, and each channel's pixels come row by row

    > In a patch the channels come one after the other, and each channel's pixels row by row.
    """
    for size in (2, 3):
        images = with_axes(
            counted(draw, 2, CHANNELS, size, size), *IMAGES.split()
        )  # one patch is all there is
        patches = submission.patchify(images, size)
        with supposing(lambda: inside_slips(images)):
            expect(patches, "the one patch", axes=PATCHES).equals(images.flatten(1)[:, None])


@check(aspect="values", points=2, follows=[test_patch_order, test_inside_a_patch])
def test_patches(submission, draw):
    """every number of an image is in its place, whatever its height and width

    > Patches come row by row: those of the topmost row from left to right, then the row below.
    > In a patch the channels come one after the other, and each channel's pixels row by row.
    """
    for channels, height, width, size in ((3, 4, 6, 2), (2, 9, 3, 3), (1, 2, 66, 1)):
        images = pictures(draw, 2, channels, height, width)
        patches = submission.patchify(images, size)
        expect(patches, f"patches of a {height} x {width} image", axes=PATCHES).equals(cut(size)(images))


@check(aspect="errors")
def test_patch_errors(submission, draw):
    """an image whose height or width is not a multiple of size raises ValueError

    > ValueError: H or W is not a multiple of size.
    """
    for height, width, size in ((4, 7, 2), (7, 4, 2), (6, 6, 4), (2, 2, 3)):
        with expect_raises("ValueError", what=f"patches of {size} do not fill {height} x {width} pixels"):
            submission.patchify(pictures(draw, 1, 1, height, width), size)


# --- unpatchify ---


@check(aspect="values", points=3)
def test_unpatchify(submission, draw):
    """unpatchify puts the patches together again, number by number

    > Put the patches of `patchify` together again.
    """
    for channels, height, width, size in ((3, 4, 6, 2), (2, 9, 3, 3), (1, 4, 4, 4), (2, 6, 66, 3)):
        patches = counted(draw, 2, height * width // size**2, channels * size**2)
        patches = with_axes(patches + 1, *PATCHES.split())
        images = submission.unpatchify(patches, size, height, width)
        expect(images, f"images of {height} x {width}", axes=IMAGES).equals(
            joined(size, height, width)(patches)
        )


@check(aspect="errors")
def test_unpatchify_errors(submission, draw):
    """unpatchify refuses sides that are not multiples, and more or fewer patches than fill the image

    > height or width is not a multiple of size, or N is not the number of patches that such an image has.
    """
    for number, height, width, size, what in (
        (6, 4, 7, 2, "patches of 2 do not fill 4 x 7 pixels"),
        (6, 7, 4, 2, "patches of 2 do not fill 7 x 4 pixels"),
        (5, 4, 6, 2, "an image of 4 x 6 pixels has 6 patches of 2, not 5"),
        (12, 4, 6, 2, "an image of 4 x 6 pixels has 6 patches of 2, not 12"),
    ):
        with expect_raises("ValueError", what=what):
            submission.unpatchify(
                draw.normal(batch=2, patch=number, number=4 * CHANNELS), size, height, width
            )


def both(draw):
    """Yield of each function what it has to keep, the right one, and a call."""
    promised = [torch.float64, torch.bfloat16]
    part = Part("patchify", {}, ["patches"], [PATCHES], promised, gradients=False)
    yield part, right_patchify, {"images": pictures(draw, height=4), "size": 2}
    part = Part("unpatchify", {}, ["images"], [IMAGES], promised, gradients=False)
    patches = draw.normal(batch=2, patch=6, number=12)
    yield part, right_unpatchify, {"patches": patches, "size": 2, "height": 4, "width": 6}


@check(aspect="gradient", follows=[test_patches, test_unpatchify])
def test_patch_gradients(submission, draw):
    """gradients go back through the cutting and the joining

    > gradients go back through both functions
    """
    for part, right, call in both(draw):
        part.expect_gradients(submission, right, draw, [call])


@check(aspect="arguments", follows=[test_patches, test_unpatchify])
def test_patch_promises(submission, draw):
    """however both functions are called, they give what these arguments make and leave them as they were

    > Results have the dtype of what was given
    > Arguments are left as they were and need not be contiguous in memory.
    """
    for part, right, call in both(draw):
        part.expect(submission, right, draw, [call])


# --- VisionTransformer ---


@check(aspect="shape")
def test_logits_shape(submission, draw):
    """images become logits [B, K], one image and one patch included

    > logits [B, K]: free numbers
    > one image and one patch included
    """
    for batch, side, size, channels, classes in ((3, 6, 2, 3, 5), (1, 4, 4, 1, 2), (2, 6, 3, 2, 1)):
        model = submission.VisionTransformer(side, size, channels, classes, D, H, FF, LAYERS)
        expect(model, "the model").is_instance("torch.nn.Module")
        model.to(draw.device)
        logits = model(pictures(draw, batch, channels, side, side))
        expect(logits, "logits", axes=LOGITS).is_tensor(
            shape=(batch, classes), dtype=torch.float32, device=draw.device
        )


@check(aspect="parameters", points=2)
def test_parameters(submission, draw):
    """embedding, class token, positions, encoder and head have the right sizes, and are the only parameters

    > nn.Parameter of D numbers, one token for all images.
    > nn.Parameter, a row of D numbers for the class token and then one for each patch.
    > Together these hold all the parameters there are.
    """
    model = submission.VisionTransformer(SIDE, SIZE, CHANNELS, CLASSES, D, H, FF, LAYERS)
    for part in ("embedding", "head"):
        held = [name for name, _ in getattr(model, part).named_parameters()]
        held = [name.rpartition(".")[2] for name in held] if part == "embedding" else held
        expect(held, f"parameters of {part}").has_names(["weight", "bias"])
    with torch.no_grad():
        found = dict(model.named_parameters())
    wanted = weights()
    wanted |= {name.replace(".weight", ".bias"): shape[:1] for name, shape in wanted.items() if "." in name}
    called = {own_name(name, found) or name: shape for name, shape in wanted.items()}
    expect(list(found), "parameters").has_names(called)
    for name, shape in called.items():
        size = [side for side in found[name].shape if side > 1]
        if name.startswith("embedding.") and name.endswith("weight"):
            size = [size[0], found[name].numel() // size[0]]  # of a convolution it has four axes
        expect(size, f"shape of {name}, axes of length 1 left out").is_value(shape)


@check(aspect="parameters", follows=test_parameters)
def test_sizes(submission, draw):
    """the model is built in the sizes asked for: layers, widths; by default 64, 4, 128 and 2

    > d_model, num_heads, d_ff, num_layers: sizes of the encoder.
    > num_layers: int = 2,
    """

    def count(*sizes, **named):
        model = submission.VisionTransformer(*sizes, **named)
        with torch.no_grad():
            return sum(parameter.numel() for _, parameter in model.named_parameters())

    said = dict(d_model=64, num_heads=4, d_ff=128, num_layers=2)
    expect(count(8, 4, 1, 3), "parameters of VisionTransformer(8, 4, 1, 3)").is_value(
        count(8, 4, 1, 3, **said), why="as many as with d_model=64, num_heads=4, d_ff=128, num_layers=2"
    )
    for name, size in dict(d_model=32, d_ff=64, num_layers=1).items():
        if count(8, 4, 1, 3, **said) <= count(8, 4, 1, 3, **{**said, name: size}):
            fail(f"no fewer parameters with {name}={size} than with {name}={said[name]}", "  is it used?")
    model, other = (submission.VisionTransformer(8, 4, 1, 3, **named).to(draw.device) for named in ({}, said))
    state = {name: 0.3 * draw.like(value) for name, value in other.state_dict().items()}
    for each in (model, other):
        each.load_state_dict(state)
        each.eval()
    images = pictures(draw, channels=1, height=8, width=8)
    wanted = logits_of(other, images, classes=3).actual
    logits_of(model, images, classes=3).same_as(wanted, name="those of a model made with these sizes by name")


@check(aspect="values", points=2, follows=test_logits_shape, stand_ins=["patchify"])
def test_class_token(submission, draw):
    """with an encoder that adds nothing, only the class token and its position reach the head

    > only from the encoder's output at the class token.
    > a row of D numbers for the class token and then one for each patch.
    """
    model, state = built(submission, draw, **silent(drawn_state(draw)))
    images = pictures(draw)
    with supposing(lambda: value_slips(images, state)):
        logits_of(model, images).close_to(
            oracle(classify, images, state),
            why="the layers add nothing here, so this is head(norm(class_token + positions[0])) for every image",
        )


@check(aspect="values", points=3, follows=[test_logits_shape, test_class_token], stand_ins=["patchify"])
def test_values(submission, draw):
    """the logits are right: patches embedded, the token in front, positions added, all encoded

    > x = concat(token, p·Eᵀ + e) + P
    > logits = head(encoder(x)[0])
    """
    model, state = built(submission, draw)
    for batch in (2, 1, 66):
        images = pictures(draw, batch)
        with supposing(lambda: value_slips(images, state)):
            logits_of(model, images).close_to(oracle(classify, images, state))


@check(aspect="values", follows=test_logits_shape, stand_ins=["patchify"])
def test_order_matters(submission, draw):
    """the order of the patches matters, and only because positions say where they are

    > Without P the encoder sees a bag of patches
    """
    patches = draw.normal(batch=2, patch=N, number=CHANNELS * SIZE**2)
    moved = patches.roll(1, dims=1)  # all of them: an answer may read one place alone
    images, others = (joined(SIZE, SIDE, SIDE)(each) for each in (patches, moved))
    state = drawn_state(draw)
    model, _ = built(submission, draw, **state)
    before = plain_logits(model, images)
    logits_of(model, others).differs_from(before, why="the same patches in another order")
    loaded(model, state | {"positions": torch.zeros_like(state["positions"])})
    before = plain_logits(model, images)
    logits_of(model, others, "logits with positions of zeros").same_as(
        before, name="those of the same patches in another order"
    )


@check(aspect="mode", follows=test_logits_shape)
def test_modes(submission, draw):
    """an image gets the same logits in train mode and in eval mode

    > a result depends on the image and the parameters as they are now
    """
    model, _ = built(submission, draw)
    images = pictures(draw)
    wanted = plain_logits(model, images)
    model.train()
    logits_of(model, images, "logits in train mode").same_as(wanted, name="those in eval mode")


@check(aspect="errors")
def test_model_errors(submission):
    """a side that is not a multiple of patch_size raises ValueError as soon as the model is built

    > ValueError when image_size is not a multiple of it.
    """
    for side, size in ((7, 2), (6, 4), (3, 4)):
        with expect_raises("ValueError", what=f"patches of {size} do not fill {side} x {side} pixels"):
            submission.VisionTransformer(side, size, CHANNELS, CLASSES, D, H, FF, LAYERS)


@check(aspect="gradient", points=2, follows=test_values, stand_ins=["patchify"])
def test_gradients(submission, draw):
    """gradients reach the images and every parameter

    > gradients reach the images and every parameter of the model
    """
    model, state = built(submission, draw)
    images = pictures(draw, requires_grad=True)

    def of_images(images):
        return classify(images, {name: tensor.cpu().to(images.dtype) for name, tensor in state.items()})

    expect_gradients(model(images), {"images": images}, draw, oracle=of_images)
    model, _ = built(submission, draw, layers=1)  # each parameter is moved by itself
    model.double()
    images = pictures(draw, dtype=torch.float64)
    expect_parameter_gradients(
        model,
        lambda: model(images),
        draw,
        "logits",
        LOGITS,
        shape=(2, CLASSES),
        notes=(".detach(), .data, NumPy and torch.no_grad() cut gradients off",),
    )


@check(aspect="arguments", follows=test_values, stand_ins=["patchify"])
def test_model_promises(submission, draw):
    """however the model is called, its logits are those of these images and parameters, in its dtype

    > logits the dtype of the model
    > Arguments are left as they were and need not be contiguous in memory.
    """
    made = dict(image_size=SIDE, patch_size=SIZE, channels=1, num_classes=CLASSES)
    made |= dict(d_model=D, num_heads=H, d_ff=FF, num_layers=LAYERS)
    part = Part("VisionTransformer", made, ["logits"], [LOGITS], [torch.float64, torch.bfloat16])
    # Names of parts of token, positions and embedding are free: the model is compared with another of its own.
    part.expect(submission, None, draw, [{"images": pictures(draw, channels=1)}])


STEPS, WANTED = 200, 0.9
LOOKS = (120, 160, STEPS)
"""After so many steps it is asked what it knows. Most have learned enough by the first; one with a slip that matters
knows less then than at the end."""
SPLIT = {"test": 0, "seed": 1}
"""The same images to learn from for everybody: what a slip leaves to be learned differs by hundredths from split to
split. A model with a slip that matters then names 87% of new images at most, and any other 92% or more."""


@functools.cache
def to_learn_from():
    """Return images to learn from, which all submissions get."""
    return shapes.splits(**SPLIT)[0]


@check(aspect="learning", trained=True, points=3, follows=test_logits_shape)
def test_learning(submission, draw):
    """trained for {STEPS} steps at most on noisy outlines, it recognises {WANTED:.0%} of shapes that it has never seen

    > one encoder layer, D = 32, a second of training
    """
    new = shapes.draw(4096, draw.generator)
    order = draw.permutation(len(new.labels)).cpu()  # labels are drawn in turns
    test = shapes.Pictures(new.images[order], new.labels[order])
    model = submission.VisionTransformer(shapes.SIDE, 4, shapes.CHANNELS, len(shapes.SHAPES), 32, 4, 64, 1)
    model.to(draw.device)
    learn_from = (tensor.to(draw.device) for tensor in to_learn_from())
    training = given_module(submission, "probes").Training(model, *learn_from, STEPS)
    for step in LOOKS:
        training.until(step)
        model.eval()
        # In parts, since all at once would take longer in memory than in computing.
        parts = [
            logits_of(model, part, "logits of new images", len(shapes.SHAPES)).actual
            for part in test.images.to(draw.device).split(512)
        ]
        guess = torch.cat(parts).argmax(dim=1).cpu()
        right = guess == test.labels
        if float(right.double().mean()) >= WANTED:
            return
    worst = min(
        range(len(shapes.SHAPES)), key=lambda label: float(right[test.labels == label].double().mean())
    )
    taken = int(guess[(test.labels == worst) & ~right].mode().values)
    fail(
        f"too little learned  {right.double().mean():.0%} of {len(right)} new images are right after {STEPS} steps; "
        f"want {WANTED:.0%}",
        f"  it knows a {shapes.SHAPES[worst]} worst, and mostly takes it for a {shapes.SHAPES[taken]}",
        "  a guess gets 25%; a model that does not know where its patches are gets about 86%",
    )


@check(aspect="scratch", points=0.5)
def test_from_scratch(submission, draw):
    """the model is built on the given Encoder, without torch's own transformer

    > torch's own `nn.Transformer…` modules are excluded
    """
    with precondition("the model must return something"):
        model = submission.VisionTransformer(SIDE, SIZE, CHANNELS, CLASSES, D, H, FF, LAYERS)
        model(pictures(draw))
    expect_from_scratch(submission)
