//! Renders the tables of a report in LaTeX, for `\\input`; they need the package `booktabs`.

use super::document::{Block, Document};
use super::table::Table;

pub(super) fn render(document: &Document) -> String {
    let mut text = format!("% {}\n", document.title);
    let mut caption = "";
    for block in &document.blocks {
        match block {
            Block::Heading(heading) => caption = heading,
            Block::Table(found) => text.push_str(&table(found, caption)),
            _ => {}
        }
    }
    text
}

fn table(table: &Table, caption: &str) -> String {
    let columns: String = (0..table.head.len())
        .map(|column| if table.is_numeric(column) { 'r' } else { 'l' })
        .collect();
    let line = |cells: &Vec<String>| {
        let cells: Vec<String> = cells.iter().map(|cell| escaped(cell)).collect();
        format!("{} \\\\\n", cells.join(" & "))
    };
    let rows: String = table.rows.iter().map(line).collect();
    format!(
        "\n\\begin{{table}}\n\\centering\n\\caption{{{}}}\n\\begin{{tabular}}{{{columns}}}\n\\toprule\n{}\\midrule\n{rows}\
         \\bottomrule\n\\end{{tabular}}\n\\end{{table}}\n",
        escaped(caption),
        line(&table.head)
    )
}

/// Escapes the special characters of LaTeX.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => out.extend(['\\', c]),
            '\\' => out.push_str("\\textbackslash{}"),
            '~' => out.push_str("\\textasciitilde{}"),
            '^' => out.push_str("\\textasciicircum{}"),
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_a_caption_rules_and_escaped_cells() {
        let mut cells = Table::new(["data_set", "score"]);
        cells.row(["a & b", "0.5 ± 0.1"]);
        let expected = "\n\\begin{table}\n\\centering\n\\caption{LRAP, 90 \\%}\n\\begin{tabular}{lr}\n\\toprule\n\
                        data\\_set & score \\\\\n\\midrule\na \\& b & 0.5 ± 0.1 \\\\\n\\bottomrule\n\\end{tabular}\n\\end{table}\n";
        assert_eq!(table(&cells, "LRAP, 90 %"), expected);
    }
}
