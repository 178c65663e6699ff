//! Which models are parts of one: those of the same samples.

use crate::common::Folder;

/// Parts of one model have the samples in one order and with the same weights; members of an ensemble need not.
#[test]
fn parts_of_other_weights_or_in_another_order_are_refused() {
    let folder = Folder::new();
    let row = |i: usize| {
        let x = i * 7 % 40;
        format!(
            "{x},{},{},{}\n",
            i % 5,
            u8::from(x < 15),
            u8::from(x + i % 5 > 30)
        )
    };
    let table =
        |rows: &mut dyn Iterator<Item = usize>| "x,z,a,b\n".to_owned() + &rows.map(row).collect::<String>();
    folder
        .write("t.csv", table(&mut (0..60)))
        .write("r.csv", table(&mut (0..60).rev()))
        .write("w.txt", "1\n2\n".repeat(30));
    let part = |data: &str, model: &str| {
        folder.ok(&format!(
            "train --targets a,b --trees 3 --data {data} --model {model}"
        ));
    };
    part("t.csv", "a.rpo");
    for (data, difference) in [
        (
            "t.csv --sample-weights w.txt",
            "with other weights of the samples",
        ),
        ("r.csv", "in another order"),
    ] {
        part(&format!("{data} --first-tree 3"), "b.rpo");
        let message = folder.fail("merge --models a.rpo b.rpo --out m.rpo");
        assert!(message.contains(difference), "{message}");
        folder.ok("combine --models a.rpo b.rpo --out both.rpo");
        let scores = |model: &str| -> Vec<f64> {
            let text = folder.ok(&format!("predict --data t.csv --model {model}"));
            let cells = text.lines().skip(1).flat_map(|line| line.split(','));
            cells.map(|cell| cell.parse().unwrap()).collect()
        };
        let [a, b, both] = ["a.rpo", "b.rpo", "both.rpo"].map(scores);
        let means = a.iter().zip(&b).map(|(a, b)| (a + b) / 2.0);
        assert!(
            means.zip(both).all(|(mean, found)| (mean - found).abs() < 1e-6),
            "{difference}"
        );
    }
    let boost = "train --targets a,b --method gbmort --data t.csv --model g.rpo --iterations";
    folder.ok(&format!("{boost} 2"));
    let message = folder.fail(&format!("{boost} 4 --continue g.rpo --sample-weights w.txt"));
    assert!(message.contains("but the weights of samples differ"), "{message}");
    folder.ok(&format!("{boost} 4 --continue g.rpo"));
}
