import t from 'tap'
import { readSources } from './sources.ts'

const NOW = String.raw`(?:performance|Date)\.now\(\)`

/**
 * Returns the assertions of a test's text that hold only on a fast machine: the time from one reading of the clock to
 * another is below a bound. A lower bound holds on a slow machine too.
 */
function speedAssertions(text: string): string[] {
  const namesOf = (value: string): string[] =>
    [...text.matchAll(new RegExp(String.raw`\b(\w+) = ${value}`, 'g'))].map(([, name]) => name!)
  const anyOf = (names: readonly string[]): string => (names.length === 0 ? '(?!)' : names.join('|'))
  const instant = String.raw`(?:${NOW}|\b(?:${anyOf(namesOf(NOW))})\b)`
  const difference = String.raw`(?:${NOW} - [\w.]+|[\w.]+ - ${instant})`
  const spans = namesOf(
    String.raw`(?:Math\.\w+\()?\(?(?:await [\w.]+\([^)]*\)\)? - ${instant}|${difference})`
  )
  const span = String.raw`(?:${difference}|\b(?:${anyOf(spans)})\b)`
  const isBelow = new RegExp(String.raw`${span}\)* <=? |[\w.]+ >=? \(*${span}`)
  return text
    .replace(/\(\n\s+/g, '(')
    .split('\n')
    .filter((line) => /\b(?:t|assert)(?:\.\w+)?\(/.test(line) && isBelow.test(line))
    .map((line) => line.trim())
}

t.test('no test asserts that something took less than some time', async (t) => {
  const found = readSources(['test', 'storage'])
    .filter(({ path }) => /(^|\/)test\//.test(path) && path !== 'test/house/elapsed.test.ts')
    .flatMap(({ path, text }) => speedAssertions(text).map((line) => `${path}: ${line}`))
  t.same(found, [])
})

t.test('an assertion on elapsed time is found in each of its forms, and no other', async (t) => {
  const found = (...lines: string[]): number => speedAssertions(lines.join('\n')).length
  t.equal(found('const began = performance.now()', 't.ok(performance.now() - began < 8_000)'), 1)
  t.equal(found('t.ok(\n  Date.now() - began < 8_000, `slow`\n)'), 1)
  t.equal(found('const at = Date.now()', 'const tookMs = Date.now() - at', 't.ok(tookMs < 20_000)'), 1)
  t.equal(found('const at = Date.now()', 't.ok(2_000 > endedMs - at)'), 1)
  t.equal(found('const at = Date.now()', 'const ms = (await lapse(lease)) - at', 't.ok(ms < LENGTH_MS)'), 1)
  t.equal(found('const at = Date.now()', 't.ok(Date.now() - at >= 3_000)'), 0, 'above something')
  t.equal(
    found('const at = Date.now()', 't.ok(seenMs >= at && seenMs <= Date.now())'),
    0,
    'an order of events'
  )
  t.equal(found('while (performance.now() - began < PAUSE_MS) await look()'), 0, 'a wait')
})
