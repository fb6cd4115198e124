"""呼ぶ側 — compiled by aop. Do not edit."""

from aop_runtime import Phase, Procedure

PROCEDURE = Procedure(
    name="呼ぶ側",
    phases=(
        Phase(
            number=1,
            title="頼む",
            calls="呼ばれる側",
        ),
    ),
)

if __name__ == "__main__": PROCEDURE.main()
