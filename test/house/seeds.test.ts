import t from 'tap'
import { readSources } from './sources.ts'

/** Returns the line numbers of calls that draw random values without a seed: `npm test` would fail by chance. */
function unseededLines(text: string): number[] {
  return [...text.matchAll(/\bfc\s*\.(?:assert|check|sample)\(/g)]
    .filter(({ 0: begin, index }) => !/\brandomRuns\(|\bseed\b/.test(callAt(text, index + begin.length)))
    .map(({ index }) => text.slice(0, index).split('\n').length)
}

/** Returns the arguments of a call, from behind its opening parenthesis on. */
function callAt(text: string, start: number): string {
  let end = start
  for (let depth = 1; depth > 0 && end < text.length; end++) {
    if (text[end] === '(') depth++
    if (text[end] === ')') depth--
  }
  return text.slice(start, end)
}

t.test('random values of every test come from a seed', async (t) => {
  const found = readSources(['test', 'storage'])
    .filter(({ path }) => /(^|\/)test\//.test(path) && path !== 'test/house/seeds.test.ts')
    .flatMap(({ path, text }) => unseededLines(text).map((line) => `${path}:${line}`))
  t.strictSame(found, [])
})

t.test('a call without a seed is found by its line', async (t) => {
  const property = 'fc.property(fc.nat(), (n) => n >= 0)'
  t.strictSame(unseededLines(`\nfc.assert(${property})\nfc.sample(fc.nat(), 1)`), [2, 3])
  t.strictSame(unseededLines(`await fc.assert(${property}, { numRuns: 9 })\nrandomRuns(1)`), [1])
  t.strictSame(unseededLines(`fc.assert(${property}, randomRuns(9))`), [])
  t.strictSame(unseededLines(`fc.assert(${property}, { numRuns: runs, seed: 1 })`), [])
})
