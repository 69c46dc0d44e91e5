"""The examples work as a newcomer would use them."""

from pathlib import Path

from napkin_eq.cli.main import main

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def test_the_diagram_derives_with_a_law_of_ones_own(capsys):
    assert (
        main(
            [
                "derive",
                str(EXAMPLES / "sink_pooling.py"),
                "--rules",
                str(EXAMPLES / "double_angle.py"),
                "--set",
                "x=64",
                "--set",
                "q=64",
            ]
        )
        == 0
    )
    assert "certificate: proved" in capsys.readouterr().out


def test_the_law_is_proved_and_its_wrong_neighbour_refuted(capsys, tmp_path):
    assert main(["prove", str(EXAMPLES / "double_angle.py")]) == 0
    wrong = tmp_path / "wrong.py"
    wrong.write_text(
        (EXAMPLES / "double_angle.py").read_text().replace("a * 2.0", "a * 3.0").replace("exp_double", "exp_wrong")
    )
    capsys.readouterr()
    assert main(["prove", str(wrong)]) == 1
    assert "refuted" in capsys.readouterr().out
