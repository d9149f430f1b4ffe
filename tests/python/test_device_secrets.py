# SPDX-License-Identifier: Apache-2.0
"""The check of the CUDA kernels' machine code finds what it looks for, and lets pass what is harmless."""

from __future__ import annotations

import check_device_secrets as check
import pytest
import sass_code as sass
import sass_constants

# The pointer to the steps at the argument's start, and the scan byte behind it.
LAYOUT = check.Layout(public=(0,), true=(8,))
STEPS = ["ULDC.64 UR4, c[0x0][0x208]", "LDC.64 R2, c[0x0][0x210]"]
OPERAND = ["LDC.64 R4, c[0x0][0x220]"]
SECRET = [*OPERAND, "LDG.E R6, desc[UR4][R4.64]"]
SECRET_PREDICATE = "ISETP.NE.AND P0, PT, R6, RZ, PT"
READ_STEP = ["LDG.E R8, desc[UR4][R2.64]", "LDS R9, [R8]"]
MATRIX = "IGMMA.64x16x32.U8.U8 R32, R40, gdesc[UR8],"
OWN_LANE = ["S2R R8, SR_TID.X"]
HIGH_BITS = ["LOP3.LUT R9, R6, 0x1c, RZ, 0xc0, !PT"]
JOINED = ["LOP3.LUT R9, R9, 0x3, R8, 0xf8, !PT", "SHFL.IDX PT, R8, R7, R9, 0x1f"]
STACK = ["LDC R1, c[0x0][0x28]", "VIADD R1, R1, 0xfffffff0"]


def text(lines: list[str]) -> str:
    """The text of a kernel that ends after `lines`, an instruction every 16 bytes."""
    body = [*lines, "EXIT"]
    return "\n".join(f"        /*{16 * at:04x}*/                   {line} ;" for at, line in enumerate(body))


def found(lines: list[str]) -> list[str]:
    return check.Analysis(text(lines), LAYOUT).run()


@pytest.mark.parametrize(
    ("planted", "message"),
    [
        ([SECRET_PREDICATE, "@P0 BRA 0x0"], "branch"),
        ([SECRET_PREDICATE, "@!P0 EXIT"], "branch"),
        (["R2UR UR6, R6", "UISETP.NE.AND UP0, UPT, UR6, URZ, UPT", "BRA.U UP0, 0x0"], "branch"),
        (["LOP3.LUT P1, RZ, R6, 0x1, RZ, 0xc0, !PT", "@P1 BRA 0x0"], "branch"),
        (["IADD3 RZ, P2, R6, R7, RZ", "IADD3.X R8, RZ, RZ, RZ, P2, !PT", "BRX R8"], "not on the list"),
        (["IADD3 R8, P2, R6, R7, RZ", "PLOP3.LUT P0, PT, P2, PT, PT, 0x80, 0x0", "@P0 BRA 0x0"], "branch"),
        (["I2F.F64.U32 R8, R6", "DSETP.GT.AND P0, PT, R8, 1, PT", "@P0 BRA 0x0"], "branch"),
        (["SHFL.IDX PT, R8, R6, 0x0, 0x1f", "ISETP.NE.AND P0, PT, R8, RZ, PT", "@P0 BRA 0x0"], "branch"),
        (["ISETP.NE.AND P1, PT, R6, RZ, PT", "VOTE.ANY R8, PT, P1", "RET.REL.NODEC R8 0x0"], "branch"),
        (["IMAD.WIDE.U32 R8, R6, 0x4, R4", "LDG.E R9, desc[UR4][R8.64]"], "address"),
        (["IMAD.WIDE.U32 R8, R6, 0x4, R4", "STG.E desc[UR4][R8.64+0x4], RZ"], "address"),
        (["LEA R8, R6, 0x30, 0x2", "LDC R9, c[0x0][R8+0x240]"], "address"),
        (["LDS R9, [R6]"], "address"),
        (["STS [R10+UR6], R6", "LDS R9, [R10+UR6]", "STS [R9], RZ"], "address"),
        ([SECRET_PREDICATE, "@P0 LDG.E R9, desc[UR4][R4.64]"], "address"),
        (["SHFL.IDX PT, R8, R7, R6, 0x1f"], "lane"),
        # The lane's two lowest bits are not those of the thread's number.
        ([*OWN_LANE, "LOP3.LUT R9, R8, 0x1, R6, 0xf8, !PT", "SHFL.IDX PT, R8, R7, R9, 0x1f"], "lane"),
        ([*OWN_LANE, "LOP3.LUT R9, R6, 0x1e, RZ, 0xc0, !PT", *JOINED], "lane"),
        ([*OWN_LANE, *HIGH_BITS, "LOP3.LUT R8, R8, 0x1, RZ, 0x3c, !PT", *JOINED], "lane"),
        ([*OWN_LANE, *HIGH_BITS, "IADD3 R8, R8, 0x1, RZ", *JOINED], "lane"),
        ([*OWN_LANE, *HIGH_BITS, "@P1 MOV R8, R6", *JOINED], "lane"),
        ([*OWN_LANE, *HIGH_BITS, *JOINED[:1], "SHFL.BFLY PT, R8, R7, R9, 0x1f"], "lane"),
        ([*OWN_LANE, *HIGH_BITS, *JOINED[:1], "SHFL.IDX PT, R8, R7, R9, 0x1e1f"], "lane"),
        ([*OWN_LANE, "SHF.L.U32 R9, R6, 0x1, RZ", *JOINED], "lane"),
        (["ATOMG.E.ADD PT, R8, desc[UR4][R2.64], R6"], "public data become secret"),
        (["STG.E desc[UR4][R2.64+0x8], R6"], "public data become secret"),
        (["ATOMG.E.ADD PT, R8, desc[UR4][R4.64], R3", "REDUX.MAX UR8, R8", "LDS R9, [R3+UR8]"], "address"),
        (["RED.E.ADD desc[UR4][R4.64], R6"], "not on the list"),
        (["IDP.4A.U8.U8 R8, R3, R6, RZ", "LDS R9, [R8]"], "address"),
        # Products of matrices: of registers, and with one in shared memory.
        (["IMMA.16832.U8.U8 R8, R12.ROW, R6.COL, RZ", "R2UR UR6, R11", "LDS R9, [R3+UR6]"], "address"),
        (["IMMA.8816.U8.U8 R8, R12.ROW, R6.COL, RZ"], "not on the list"),
        ([f"{MATRIX} RZ, !UPT, gsb0", "ISETP.NE.AND P0, PT, R39, RZ, PT", "@P0 BRA 0x0"], "branch"),
        (["R2UR UR10, R6", f"{MATRIX} RZ, !UPT, gsb0"], "address"),
        ([SECRET_PREDICATE, f"@P0 {MATRIX} R32, gsb0"], "address"),
        # What others wait for.
        ([SECRET_PREDICATE, "BAR.RED.OR.DEFER_BLOCKING 0x0, P0"], "branch"),
        (["SYNCS.ARRIVE.TRANS64 RZ, [UR8], R6"], "wait or copy"),
        (["SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR8], R6"], "wait or copy"),
        ([SECRET_PREDICATE, "@P0 SYNCS.ARRIVE.TRANS64.A1T0 RZ, [UR8], RZ"], "wait or copy"),
        (["SYNCS.EXCH.64 UR8, [UR6], UR10", "LDS R9, [R3+UR9]"], "address"),
        (["R2UR UR14, R6", "UBLKCP.S.G [UR10], [UR12], UR14"], "wait or copy"),
        (["R2UR UR11, R6", "UBLKCP.S.G [UR10], [UR12], UR14"], "wait or copy"),
        (["LDGSTS.E.128 [R6], desc[UR8][R2.64]"], "wait or copy"),
        (["LDGSTS.E.128 [R3+0x200], desc[UR8][R6.64]"], "wait or copy"),
        ([SECRET_PREDICATE, "@P0 LDGSTS.E.128 [R3], desc[UR8][R2.64]"], "wait or copy"),
        (["LDGSTS.E.128 [R3], desc[UR8][R2.64]", "LDS R8, [R3]", "LDS R9, [R8]"], "address"),
    ],
)
def test_leak(planted: list[str], message: str) -> None:
    outcome = found([*STEPS, *SECRET, *planted])
    assert len(outcome) == 1
    assert outcome[0].startswith(message)
    assert planted[-1] in outcome[0]


@pytest.mark.parametrize(
    "harmless",
    [
        # The lane's two lowest bits are those of the thread's number, in different ways.
        [*OWN_LANE, *HIGH_BITS, *JOINED],
        [*OWN_LANE, "SHF.L.U32 R9, R6, 0x2, RZ", *JOINED],
        [*OWN_LANE, "IMAD.SHL.U32 R9, R6, 0x4, RZ", *JOINED],
        [*OWN_LANE, "LOP3.LUT R8, R8, 0x3, RZ, 0xc0, !PT", "LEA R9, R6, R8, 0x2", *JOINED[1:]],
        [*OWN_LANE, *HIGH_BITS, "IADD3 R9, R9, R8, RZ", *JOINED[1:]],
        [*OWN_LANE, *HIGH_BITS, "MOV R10, R9", "SEL R9, R10, R9, P1", *JOINED],
        [*OWN_LANE, *STACK, "STL.64 [R1+0x8], R8", "MOV R8, R6", *HIGH_BITS, "LDL R8, [R1+0x8]", *JOINED],
        # What steps say is public, and a loop over them as well.
        ["LDG.E.64 R8, desc[UR4][R2.64+0x8]", "ISETP.NE.AND P0, PT, R8, RZ, PT", "@P0 BRA 0x20"],
        ["IADD3 R2, P0, R2, 0x20, RZ", "IADD3.X R3, RZ, R3, RZ, P0, !PT", *READ_STEP],
        ["LDG.E R8, desc[UR4][R2.64]", "IMAD.WIDE.U32 R8, R8, 0x4, R4", "LDG.E R8, desc[UR4][R8.64]"],
        # A count of what was claimed.
        ["ATOMG.E.ADD PT, R8, desc[UR4][R2.64], R3", "REDUX.MAX UR8, R8", "LDS R9, [R3+UR8]"],
        # Selections by secrets, and stores of them.
        [SECRET_PREDICATE, "@P0 MOV R8, R9", "SEL R8, R8, R6, P0", "STG.E desc[UR4][R4.64], R8"],
        # The register is used anew.
        ["MOV R6, 0x4", "LDS R8, [R6]"],
        ["CS2R R6, SRZ", "LDS R8, [R7]"],
        # What threads and copies have come to.
        ["BAR.RED.OR.DEFER_BLOCKING 0x0, P1", "B2R.RESULT RZ, P0", "@P0 BRA 0x20"],
        ["SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR8], R2", "@!P0 BRA 0x20"],
        # Predicates in words: those of the mask alone.
        [SECRET_PREDICATE, "P2R R6, PR, RZ, 0x2", "LDS R8, [R6]"],
        ["R2P PR, R6, 0x5", "@P1 LDS R8, [R2]"],
        # A predicate that is never true.
        ["@!PT LDS RZ, [R6]"],
        # Written and read under one predicate.
        ["ISETP.NE.AND P0, PT, R2, RZ, PT", "@P0 MOV R6, R2", "@P0 LDS R8, [R6]"],
        ["ISETP.NE.AND P0, PT, R2, RZ, PT", "MOV R9, R2", "@P0 MOV R9, R6", "@!P0 LDS R8, [R9]"],
        # The same by copies of the predicate.
        ["PLOP3.LUT P1, PT, PT, PT, P0, 0x80, 0x0", "@P0 MOV R6, R2", "@P1 LDS R8, [R6]"],
        ["PLOP3.LUT P1, PT, PT, PT, P0, 0x40, 0x0", "@P0 MOV R6, R2", "@!P1 LDS R8, [R6]"],
        # Written under a predicate and under its opposite.
        ["@P0 MOV R6, R2", "@!P0 MOV R6, R3", "LDS R8, [R6]"],
    ],
)
def test_harmless(harmless: list[str]) -> None:
    assert found([*STEPS, *SECRET, *harmless]) == []


COPY = "PLOP3.LUT P1, PT, PT, PT, P0, 0x80, 0x0"


@pytest.mark.parametrize(
    "planted",
    [
        ["@P0 MOV R6, R2", "LDS R8, [R6]"],
        ["@P0 MOV R6, R2", "@!P0 LDS R8, [R6]"],
        ["@P0 MOV R6, R2", "ISETP.NE.AND P0, PT, R3, RZ, PT", "@P0 LDS R8, [R6]"],
        ["@P0 MOV R6, R2", "@P0 LDS R6, [R6]", "@P0 LDS R8, [R6]"],
        ["@P0 MOV R6, R2", "@!P1 MOV R6, R3", "LDS R8, [R6]"],
        ["PLOP3.LUT P1, PT, PT, PT, P0, 0x40, 0x0", "@P0 MOV R6, R2", "@P1 LDS R8, [R6]"],
        ["PLOP3.LUT P1, PT, PT, P2, P0, 0x80, 0x0", "@P0 MOV R6, R2", "@!P1 LDS R8, [R6]"],
        [COPY, "@P0 MOV R6, R2", "ISETP.NE.AND P1, PT, R3, RZ, PT", "@P1 LDS R8, [R6]"],
        [COPY, "@P1 MOV R6, R2", "ISETP.NE.AND P0, PT, R3, RZ, PT", "@P0 LDS R8, [R6]"],
        ["@P0 MOV R6, R2", "BRA 0x70", "LDS R6, [R2]", "@P0 LDS R8, [R6]"],
    ],
)
def test_written_under_another_predicate(planted: list[str]) -> None:
    jump = ["@P1 BRA 0x60"] if "BRA 0x70" in planted else []
    outcome = found([*SECRET, *jump, "ISETP.NE.AND P0, PT, R2, RZ, PT", *planted])
    assert len(outcome) == 1
    assert planted[-1] in outcome[0]


INDEXED = ["IMAD.WIDE.U32 R8, R6, 0x4, R4", "LDG.E R9, desc[UR4][R8.64]"]


@pytest.mark.parametrize(
    "jump",
    [
        ["ULDC.U8 UR8, c[0x0][0x218]", "ISETP.NE.AND P0, PT, RZ, UR8, PT", "@P0 BRA {end}"],
        ["LDC.U8 R8, c[0x0][0x218]", "ISETP.EQ.U32.AND P0, PT, R8, 0x1, PT", "@P0 EXIT"],
        ["LDC.U8 R8, c[0x0][0x218]", "LOP3.LUT P0, RZ, R8, 0xff, RZ, 0xc0, !PT", "@P0 BRA {end}"],
        [
            "ULDC.U8 UR8, c[0x0][0x218]",
            "UISETP.EQ.AND UP0, UPT, UR8, URZ, UPT",
            "PLOP3.LUT P0, PT, PT, PT, UP0, 0x80, 0x0",
            "@!P0 BRA {end}",
        ],
        [
            "ULDC.U8 UR8, c[0x0][0x218]",
            "ISETP.NE.AND P3, PT, RZ, UR8, PT",
            "P2R R8, PR, RZ, 0x8",
            "ISETP.NE.AND P0, PT, R8, RZ, PT",
            "@P0 BRA {end}",
        ],
    ],
)
def test_code_of_class_public_is_left_out(jump: list[str]) -> None:
    end = f"{16 * (len(STEPS) + len(SECRET) + len(jump) + len(INDEXED)):#x}"
    lines = [*STEPS, *SECRET, *(line.format(end=end) for line in jump), *INDEXED]
    assert found(lines) == []
    # Not so if another byte decides, or if the jump is taken in variable time.
    assert len(found([line.replace("0x218]", "0x219]") for line in lines])) == 1
    other = [line.replace("@P0", "@!P0") if "@P0" in line else line.replace("@!P0", "@P0") for line in lines]
    assert len(found(other)) == 1


@pytest.mark.parametrize(
    ("selection", "count"),
    [("R2, R6, P0", 0), ("R6, R2, !P0", 0), ("R6, R2, P0", 1), ("R2, R6, !P0", 1), ("R2, R6, P1", 1)],
)
def test_selection_by_the_timing_class(selection: str, count: int) -> None:
    scan = ["LDC.U8 R8, c[0x0][0x218]", "ISETP.NE.AND P0, PT, R8, RZ, PT"]
    assert len(found([*STEPS, *SECRET, *scan, f"SEL R9, {selection}", "LDS R9, [R9]"])) == count


def test_scan_is_not_known_behind_a_meeting_of_paths() -> None:
    lines = [*STEPS, *SECRET, "LDC.U8 R8, c[0x0][0x218]", "@P3 BRA 0x70", "MOV R8, RZ"]
    lines += ["ISETP.NE.AND P0, PT, R8, RZ, PT", "@P0 EXIT", *INDEXED]
    assert len(found(lines)) == 1


@pytest.mark.parametrize(
    ("lines", "count"),
    [
        (["STL [R1+0x4], R2", "LDL R8, [R1+0x4]", "LDS R8, [R8]"], 0),
        (["STL.64 [R1], R2", "LDL R8, [R1+0x4]", "LDS R8, [R8]"], 0),
        # nvcc packs predicates bit by bit into a word that was not written before.
        (["STL.64 [R1], R2", "LDL R8, [R1+0x8]", "LDS R8, [R8]"], 0),
        # Words are told apart: R7 is public.
        (["STL.64 [R1], R6", "LDL.64 R8, [R1]", "LDS R8, [R9]"], 0),
        (["STL.64 [R1], R6", "LDL.64 R8, [R1]", "LDS R8, [R8]"], 1),
        (["STL.64 [R1], R6", "LDL R8, [R1]", "LDS R8, [R8]"], 1),
        (["STL [R1+0x4], R6", "LDL R8, [R1+0x4]", "LDS R8, [R8]"], 1),
        (["STL.64 [R1+0x8], R2", "VIADD R9, R1, 0x8", "LDL R8, [R9+0x4]", "LDS R8, [R8]"], 0),
        # A secret is stored at an unknown place.
        (["STL [R1+0x4], R2", "STL [R10], R6", "LDL R8, [R1+0x4]", "LDS R8, [R8]"], 1),
        (["STL [R1+0x4], R2", "ST.E desc[UR4][R10.64], R6", "LDL R8, [R1+0x4]", "LDS R8, [R8]"], 1),
        (["STL [R1+0x4], R2", "LDL R8, [R1+UR4]", "LDS R8, [R8]"], 1),
        # A pointer to steps, kept on the stack.
        (["STL.64 [R1], R2", "LDL.64 R8, [R1]", "LDG.E R8, desc[UR4][R8.64]", "LDS R8, [R8]"], 0),
    ],
)
def test_local_memory(lines: list[str], count: int) -> None:
    assert len(found([*STACK, *STEPS, *SECRET, *lines])) == count


def test_pointer_from_one_of_two_paths() -> None:
    lines = [*STEPS, *OPERAND, "@P0 BRA 0x60", "MOV R4, R2", "MOV R5, R3"]
    lines += ["LDG.E R8, desc[UR4][R4.64]", "LDS R8, [R8]"]
    assert len(found(lines)) == 1
    assert found([line for line in lines if "BRA" not in line]) == []


def test_secret_from_a_later_round_of_a_loop() -> None:
    loop = ["MOV R9, RZ", "LDS R8, [R9]", "MOV R9, R6", "ISETP.NE.AND P0, PT, R2, RZ, PT", "@P0 BRA 0x50"]
    assert found([*STEPS, *SECRET, *loop]) == [
        "address depends on a secret: /*0050*/                   LDS R8, [R9]"
    ]


def test_call_and_return() -> None:
    #          0x30           0x40               0x50           0x60    0x70
    lines = [
        "MOV R8, 0x50",
        "CALL.REL.NOINC 0x70",
        "LDS R9, [R7]",
        "EXIT",
        "MOV R7, R6",
        "RET.REL.NODEC R8 0x0",
    ]
    assert [line.split(":")[0] for line in found(["NOP", *SECRET, *lines])] == ["address depends on a secret"]


@pytest.mark.parametrize(("second", "count"), [("R4", 0), ("R6", 1)])
def test_each_call_by_itself(second: str, count: int) -> None:
    """What a function keeps for one caller is not what it keeps for another one."""
    function = 16 * (len(SECRET) + 8)
    lines = [
        "MOV R10, R4",
        f"CALL.REL.NOINC {function:#x}",  # R10, which the function keeps, is public here
        f"MOV R11, {second}",
        "LDS R9, [R10]",
        "MOV R10, R6",
        f"CALL.REL.NOINC {function:#x}",  # and secret here
        "LDS R9, [R11]",
        "EXIT",
        "NOP",
        "RET.REL.NODEC R20 0x0",
    ]
    assert len(found([*SECRET, *lines])) == count


def test_jump_out_of_the_kernel() -> None:
    assert found(["BRA 0x1000"]) == ["leads out of the kernel: /*0000*/                   BRA 0x1000"]


@pytest.mark.parametrize(
    ("line", "reads", "writes"),
    [
        ("IADD3.X R1, P0, P1, R2, ~R3.reuse, RZ, P2, !P3", "R2 R3 P2 P3", "R1 P0 P1"),
        ("IMAD.WIDE.U32.X R4, P1, R6, R7, R8, P2", "R6 R7 R8 R9 P2", "R4 R5 P1"),
        ("DFMA.RZ R10, -R12, |R14|, 1", "R12 R13 R14 R15", "R10 R11"),
        ("STG.E.128 desc[UR4][R2.64], R8", "R8 R9 R10 R11", ""),
        ("SEL R1, R2, UR3, !P6", "R2 UR3 P6", "R1"),
        ("VOTE.ANY R1, PT, !P2", "P2", "R1"),
        ("F2I.U64.F64.TRUNC R2, R4", "R4 R5", "R2 R3"),
        ("LEA.HI.X R1, R2, UR5, R3, 0x2, P0", "R2 UR5 R3 P0", "R1"),
        ("IDP.4A.U8.U8 R1, R2.reuse, R3, R4", "R2 R3 R4", "R1"),
        ("P2R R1, PR, RZ, 0x7f", "P0 P1 P2 P3 P4 P5 P6", "R1"),
        ("P2R R1, PR, R2, 0x5", "R2 P0 P2", "R1"),
        ("R2P PR, R2, 0x6", "R2", "P1 P2"),
        ("B2R.RESULT RZ, P0", "", "P0"),
        ("ELECT P1, UR4, PT", "", "P1 UR4"),
        ("UIADD3.64 UR8, UR10, 0x60, URZ", "UR10 UR11", "UR8 UR9"),
        (
            "IMMA.16832.U8.U8 R0, R4.reuse.ROW, R8.COL, R12",
            "R4 R5 R6 R7 R8 R9 R12 R13 R14 R15",
            "R0 R1 R2 R3",
        ),
        ("SYNCS.EXCH.64 URZ, [UR8], UR4", "UR4 UR5", ""),
        ("SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR7+0x80], R4", "R4", "P0"),
        ("UBLKCP.S.G [UR10], [UR12], UR14", "UR14", ""),
        ("LDGSTS.E.128 [R3+0x200], desc[UR8][R4.64+0x10]", "", ""),
        ("UP2UR UR4, UPR, URZ, 0x1", "UP0 UP1 UP2 UP3 UP4 UP5 UP6", "UR4"),
        ("S2R R1, SR_TID.X", "", "R1"),
    ],
)
def test_registers(line: str, reads: str, writes: str) -> None:
    one = sass.decode(f"        /*0000*/  {line} ;")
    assert one is not None
    for registers, names in ((one.reads, reads), (one.writes, writes)):
        assert registers == sum(1 << (sass.bit(name) or 0) for name in names.split())


def test_constants() -> None:
    assert sass_constants.compare("LT", 0xFFFFFFFF, 0, signed=True)
    assert not sass_constants.compare("LT", 0xFFFFFFFF, 0, signed=False)
    assert sass_constants.lookup(0xC0, [0x3C, 0x0F, 0], 32) == 0x0C
    assert sass_constants.lookup(0x3C, [0x3C, 0x0F, 0], 32) == 0x33


def test_report(capsys: pytest.CaptureFixture[str]) -> None:
    outcome = {"k_1x1": ["k_1x1: a leak"], "facts": ["facts: a leak"]}
    assert check.report(outcome, {"facts": "its point"}) == 1
    assert "k_1x1: a leak\n2 kernels checked, 1 with findings" in capsys.readouterr().out
    assert check.report(outcome, {"*": "all"}) == 0
    assert check.report({"k_1x1": []}, {"facts": "idle"}) == 1
    # One kind of finding.
    assert check.report(outcome, {"facts": "its point", "k_*: a leak": "harmless"}) == 0
    assert check.report(outcome, {"facts": "its point", "k_*: another": "harmless"}) == 1
    assert check.reasons("k_*: a leak # harmless\n") == {"k_*: a leak": "harmless"}
    with pytest.raises(ValueError, match="no reason"):
        check.reasons("facts\n")
    assert check.findings("k_1x1", text(["NOP"]), LAYOUT) == ["k_1x1: loads nothing that is secret"]
    assert check.of_kernel("row32_4x8", {"*_[0-9]*x[0-9]*": LAYOUT}) == LAYOUT
    assert check.of_kernel("mm_residue", {"*_[0-9]*x[0-9]*": LAYOUT}) == check.Layout()
