import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import t from 'tap'
import { csvCell, csvLine } from '../../../src/kernel/http/list/csv.ts'
import { acceptedFormat } from '../../../src/kernel/http/list/list-format.ts'
import { fieldsFault, pickFields } from '../../../src/kernel/http/list/row-fields.ts'
import { nextLink } from '../../../src/kernel/http/list/table-text.ts'
import { randomRuns } from '../../random-runs.ts'

t.test('a cell of CSV is empty for null, and quoted where its text needs it', async (t) => {
  t.equal(csvCell(null), '')
  t.equal(csvCell(undefined), '')
  t.equal(csvCell(''), '""')
  t.equal(csvCell('a,b'), '"a,b"')
  t.equal(csvCell('say "x"'), '"say ""x"""')
  t.equal(csvCell('two\r\nlines'), '"two\r\nlines"')
  t.equal(csvCell(true), 'true')
  t.equal(csvCell(1e-7), '1e-7')
  t.equal(csvCell([{ kind: 'lp', amount_raw: '5' }]), '"[{""kind"":""lp"",""amount_raw"":""5""}]"')
})

t.test(
  'a text that a spreadsheet would take for a formula gets an apostrophe, a number does not',
  async (t) => {
    for (const text of ['=1+1', '+1+1', '-1+1', '@SUM(A1)', '\tx', "'=x", '-x'])
      t.equal(csvCell(text), `'${text}`)
    t.equal(csvCell('\r=x'), `"'\r=x"`)
    for (const number of ['-5', '-18446744073709551615', '-1.5e-7', '12']) t.equal(csvCell(number), number)
    t.equal(csvCell(-5), '-5')
    t.equal(csvCell("it's"), "it's")
  }
)

t.test('a reader of RFC 4180 finds the texts of a line, whatever they contain', async () => {
  const text = fc.string({ unit: fc.constantFrom('a', ',', '"', '\r', '\n', '=', "'", '-', '1', 'é', '\t') })
  fc.assert(
    fc.property(fc.array(text, { minLength: 1, maxLength: 5 }), (texts) => {
      const columns = texts.map((_, at) => `c${at}`)
      const line = csvLine(Object.fromEntries(texts.map((each, at) => [`c${at}`, each])), columns)
      const [read] = parse(`${line}\r\n`, {
        record_delimiter: '\r\n',
        relax_column_count: true
      })
      // One apostrophe in front of a formula can be removed without doubt.
      const plain = read!.map((each) => each.replace(/^'(?='*[=+\-@\t\r])/, ''))
      return JSON.stringify(plain) === JSON.stringify(texts)
    }),
    randomRuns(300, 36)
  )
})

t.test('a line with one empty cell is not an empty line', async (t) => {
  t.equal(csvLine({ a: null }, ['a']), '""')
  t.equal(csvLine({ a: null, b: null }, ['a', 'b']), ',')
})

t.test('fields are refused by name if unknown or repeated, and picked in their order', async (t) => {
  const known = new Set(['a', 'b', 'c'])
  t.equal(fieldsFault(['c', 'a'], known), null)
  t.match(fieldsFault(['a', 'x'], known), /"x".*they have a, b, c/)
  t.match(fieldsFault([''], known), /""/)
  t.match(fieldsFault(['a', 'b', 'a'], known), /names a twice/)
  t.equal(
    JSON.stringify(pickFields({ a: 1, b: null, c: { d: 2 } }, ['c', 'b', 'x'])),
    '{"c":{"d":2},"b":null}'
  )
})

t.test('Accept selects the format with the largest weight; JSON without one, and in a tie', async (t) => {
  for (const [accept, format] of [
    [undefined, 'json'],
    ['*/*', 'json'],
    ['text/html, */*;q=0.8', 'json'],
    ['text/csv', 'csv'],
    ['TEXT/CSV; header=present', 'csv'],
    ['application/x-ndjson', 'ndjson'],
    ['text/csv, */*;q=0.1', 'csv'],
    ['text/csv;q=0.5, application/json', 'json'],
    ['text/csv, application/json', 'json'],
    ['text/csv;q=0.4, application/x-ndjson;q=0.6', 'ndjson'],
    ['text/csv;q=0', 'json']
  ] as const)
    t.equal(acceptedFormat(accept), format, String(accept))
})

t.test('the link to the next page has the URL of this one with another after, and no offset', async (t) => {
  t.strictSame(nextLink('/v1/x', null), [])
  t.strictSame(nextLink('/v1/x?limit=5&after=a&offset=3', 'b c'), [
    'link',
    '</v1/x?limit=5&after=b+c>; rel="next"'
  ])
})
