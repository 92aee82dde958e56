import fc from 'fast-check'
import t from 'tap'
import { pubkeyMapKey, pubkeyToBase58, type Pubkey } from '../../src/chain/pubkey.ts'
import { CashList, USDC } from '../../src/market/cash.ts'
import { NameIndex } from '../../src/data/name-index.ts'
import type { Volumes } from '../../src/data/name-search.ts'
import { foldedText, NAME_MATCHES, type NameMatch, type SymbolAndName } from '../../src/data/name-text.ts'
import { key, SOL, USD_COIN } from '../market/world.ts'
import { randomRuns } from '../random-runs.ts'

const cash = new CashList()
const NO_VOLUME: Volumes = { of: () => undefined, descending: () => [] }

/** Searches an index without volumes; hits as `symbol match`. */
function found(index: NameIndex, text: string, limit = 50): string[] {
  return index.search(foldedText(text), limit, NO_VOLUME).map(({ symbol, match }) => `${symbol} ${match}`)
}

function indexOf(...names: readonly (readonly [symbol: string, name: string])[]): NameIndex {
  const index = new NameIndex({ bytesMax: 2 ** 24, cash })
  for (const [n, [symbol, name]] of names.entries()) index.setLaunch({ mint: key(n + 1), symbol, name })
  return index
}

/** Returns a distinct address for each number. */
function numbered(n: number): Pubkey {
  const address = new Uint8Array(32)
  new DataView(address.buffer).setUint32(0, n + 1)
  return address
}

const MINTS = [...Array.from({ length: 8 }, (_, n) => key(n + 1)), USD_COIN, SOL]
const anyText = fc.oneof(
  fc.string({ unit: fc.constantFrom('a', 'b', 'B', ' ', '$', 'é', '猫', '🐶', '-'), maxLength: 6 }),
  fc.constantFrom('USDC', 'usd coin', 'wrapped sol', 'sol')
)
const anyNames = fc.record({ symbol: anyText, name: anyText }, { noNullPrototype: true })
const anyMint = fc.nat({ max: MINTS.length - 1 })

type Step =
  | { readonly kind: 'launch' | 'account'; readonly mint: number; readonly names: SymbolAndName }
  | { readonly kind: 'nameless' | 'touch'; readonly mint: number }
  | { readonly kind: 'reload'; readonly seen: readonly number[] }

const anyStep: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constantFrom('launch', 'account'), mint: anyMint, names: anyNames }),
  fc.record({ kind: fc.constantFrom('nameless', 'touch'), mint: anyMint }),
  fc.record({ kind: fc.constant('reload' as const), seen: fc.array(anyMint, { maxLength: 8 }) })
)

/** Names without any index: all are in a list, and each search scans the list. */
class PlainNames {
  readonly launches = new Map<number, SymbolAndName>()
  readonly accounts = new Map<number, SymbolAndName>()

  take(step: Step): void {
    if (step.kind === 'launch') this.launches.set(step.mint, step.names)
    if (step.kind === 'account') this.accounts.set(step.mint, step.names)
    if (step.kind === 'nameless') this.accounts.delete(step.mint)
    if (step.kind === 'reload')
      for (const mint of this.launches.keys()) if (!step.seen.includes(mint)) this.launches.delete(mint)
  }

  namesOf(mint: number): SymbolAndName | null {
    const listed = cash.of(MINTS[mint]!)
    const ofCash = listed === undefined ? null : { symbol: listed.symbol!, name: listed.name! }
    return this.accounts.get(mint) ?? ofCash ?? this.launches.get(mint) ?? null
  }

  search(text: string, limit: number, volumes: readonly number[]): { mint: Pubkey; match: NameMatch }[] {
    const hits = MINTS.flatMap((key, mint) => {
      const names = this.namesOf(mint)
      const match = names === null ? null : plainMatch(text, foldedText(names.symbol), foldedText(names.name))
      return match === null ? [] : [{ mint: key, match, volume: volumes[mint]! }]
    })
    const order = (match: NameMatch): number => NAME_MATCHES.indexOf(match)
    return hits
      .sort(
        (a, b) => b.volume - a.volume || order(a.match) - order(b.match) || Buffer.compare(a.mint, b.mint)
      )
      .slice(0, limit)
      .map(({ mint, match }) => ({ mint, match }))
  }
}

function plainMatch(text: string, symbol: string, name: string): NameMatch | null {
  const both = [symbol, name]
  if (symbol === text) return 'symbol'
  if (name === text) return 'name'
  if (symbol.indexOf(text) === 0) return 'symbol_prefix'
  if (name.indexOf(text) === 0) return 'name_prefix'
  const places = (of: string): number[] =>
    Array.from(of, (_, at) => at).filter((at) => of.startsWith(text, at))
  const isStart = (of: string, at: number): boolean => !/[\p{L}\p{N}]/u.test(of.charAt(at - 1))
  const units = (of: string): number[] => Array.from({ length: of.length }, (_, at) => at)
  if (both.some((of) => units(of).some((at) => of.startsWith(text, at) && isStart(of, at))))
    return 'word_prefix'
  return both.some((of) => places(of).length > 0 || of.includes(text)) ? 'substring' : null
}

t.test('any names, changes and reloads are found as a search of a plain list finds them', async (t) => {
  const anyCase = fc.record({
    steps: fc.array(anyStep, { maxLength: 25 }),
    texts: fc.array(
      anyText.filter((text) => foldedText(text).length >= 2 || foldedText(text) === '猫'),
      { minLength: 1, maxLength: 4 }
    ),
    limit: fc.integer({ min: 1, max: 10 }),
    manyFrom: fc.constantFrom(0, 2, 2_000),
    volumes: fc.array(fc.nat({ max: 2 }), { minLength: MINTS.length, maxLength: MINTS.length })
  })
  fc.assert(
    fc.property(anyCase, ({ steps, texts, limit, manyFrom, volumes }) => {
      const index = new NameIndex({ bytesMax: 2 ** 24, cash, manyFrom })
      const plain = new PlainNames()
      for (const step of steps) {
        plain.take(step)
        if (step.kind === 'launch') index.setLaunch({ mint: MINTS[step.mint]!, ...step.names })
        if (step.kind === 'account') index.setAccountNames(MINTS[step.mint]!, step.names)
        if (step.kind === 'nameless') index.setAccountNames(MINTS[step.mint]!, null)
        if (step.kind === 'touch') index.touch(pubkeyMapKey(MINTS[step.mint]!))
        if (step.kind !== 'reload') continue
        index.beginReload()
        for (const mint of step.seen) {
          const names = plain.launches.get(mint)
          if (names !== undefined) index.setLaunch({ mint: MINTS[mint]!, ...names })
        }
        index.endReload()
      }
      const traded = new Map(
        MINTS.flatMap((mint, at) =>
          volumes[at] === 0 ? [] : [[pubkeyMapKey(mint), { trades: 1, microUsd: BigInt(volumes[at]!) }]]
        )
      )
      const ranked: Volumes = {
        of: (mapKey) => traded.get(mapKey),
        descending: () =>
          [...traded]
            .sort(([, a], [, b]) => Number(b.microUsd - a.microUsd))
            .map(([mapKey, { microUsd }]) => ({ mapKey, microUsd }))
      }
      for (const text of texts) {
        const hits = index.search(foldedText(text), limit, ranked)
        t.strictSame(
          hits.map(({ mint, match }) => ({ mint: pubkeyToBase58(mint), match })),
          plain
            .search(foldedText(text), limit, volumes)
            .map(({ mint, match }) => ({ mint: pubkeyToBase58(mint), match })),
          text
        )
      }
      for (const [mint, address] of MINTS.entries()) {
        t.strictSame(index.namesOf(address), plain.namesOf(mint))
        t.equal(index.has(address), plain.namesOf(mint) !== null)
      }
    }),
    randomRuns(400, 8)
  )
})

t.test('at equal volume the closest match comes first, in the order that is documented', async (t) => {
  const index = indexOf(
    ['HOTDOG', 'Mustard'],
    ['BUN', 'Big Dog Bun'],
    ['INU', 'Doge Inu'],
    ['DOGE', 'Shiba'],
    ['WOOF', 'dog'],
    ['$DOG', 'Puppy']
  )
  t.strictSame(found(index, 'dog'), [
    '$DOG symbol',
    'WOOF name',
    'DOGE symbol_prefix',
    'INU name_prefix',
    'BUN word_prefix',
    'HOTDOG substring'
  ])
  t.strictSame(found(index, ' $DOG '), found(index, 'dog'))
  t.strictSame(found(index, 'dog', 2), ['$DOG symbol', 'WOOF name'])
  t.strictSame(found(index, 'big  dog'), ['BUN name_prefix'], 'words count side by side')
  t.strictSame(found(index, 'dog big'), [])
})

t.test(
  'letters are compared without case and form, and marks that are not seen do not hide a name',
  async (t) => {
    const index = indexOf(
      ['ＰＥＰＥ', 'Pe\u200Bpe'],
      ['ÉTÉ', 'Éte\u0301'],
      ['猫', '招き猫 coin'],
      ['🐶', 'Doggo']
    )
    t.strictSame(found(index, 'pepe'), ['ＰＥＰＥ symbol'])
    t.strictSame(found(index, 'été'), ['ÉTÉ symbol'])
    t.strictSame(found(index, '猫'), ['猫 symbol'])
    t.strictSame(found(index, '🐶'), ['🐶 symbol'])
    t.strictSame(found(index, 'dog\tgo'), [])
  }
)

t.test(
  'names of accounts count before those of the launch, and cash has the names of the list',
  async (t) => {
    const index = indexOf(['OLD', 'Older'])
    index.setAccountNames(key(1), { symbol: 'NEW', name: 'Newer' })
    t.strictSame(found(index, 'old'), [])
    t.strictSame(found(index, 'newer'), ['NEW name'])
    index.setAccountNames(key(1), null)
    t.strictSame(found(index, 'older'), ['OLD name'])
    t.strictSame(found(index, USDC.slice(0, 4)), [])
    t.strictSame(found(index, 'usd coin'), ['USDC name'])
    index.setLaunch({ mint: USD_COIN, symbol: 'FAKE', name: 'Fake' })
    t.strictSame(found(index, 'fake'), [], 'no launch can name cash')
    t.strictSame(found(index, 'usd coin'), ['USDC name'])
  }
)

// INVARIANTS 10
t.test(
  'at its limit it evicts tokens that were neither launched, traded nor read lately, and counts them',
  async (t) => {
    const index = new NameIndex({ bytesMax: 100_000, cash })
    index.beginReload()
    index.endReload()
    t.equal(index.isComplete, true)
    const name = (n: number) => ({ symbol: `S${n}Q`, name: `Name of ${n}Q` })
    const COUNT = 1_000
    for (let n = 0; n < COUNT; n++) {
      index.setLaunch({ mint: key(n), ...name(n) })
      index.touch(pubkeyMapKey(key(0)))
      if (index.bytes > index.bytesMax) t.fail(`${index.bytes} bytes`)
    }
    t.ok(index.size > 50 && index.size < 500, `${index.size} tokens`)
    t.equal(index.leftOut, COUNT - index.size)
    t.equal(index.isComplete, false)
    t.strictSame(found(index, 's0q'), ['S0Q symbol'], 'one that trades stays')
    t.strictSame(found(index, 's1q'), [])
    t.strictSame(found(index, `s${COUNT - 1}q`), [`S${COUNT - 1}Q symbol`])
    t.equal(index.search('name of', COUNT, NO_VOLUME).length, index.size, 'those that are left are all found')
    t.strictSame(found(index, 'wrapped sol'), ['SOL name'], 'cash is never evicted')
  }
)

t.test('a name of any length is kept whole, and searched to its limit', async (t) => {
  const long = `${'x'.repeat(200)} tail`
  const index = indexOf(['LONG', long])
  t.equal(index.search('xxx', 1, NO_VOLUME)[0]?.name, long)
  t.strictSame(found(index, 'tail'), [])
})

t.test('an index that changes during a search gives no token twice, and none that is gone', async (t) => {
  const index = new NameIndex({ bytesMax: 2 ** 26, cash })
  const tokens = Array.from({ length: 3_000 }, (_, n) => n)
  const named = (n: number, name: string) => index.setLaunch({ mint: numbered(n), symbol: 'S', name })
  for (const n of tokens) named(n, `token ${n}`)
  const search = index.searching('token', 5_000, NO_VOLUME)
  let steps = 0
  let step = search.next()
  for (; step.done !== true; step = search.next()) {
    // Some get a new number, which may be that of a removed token, and some no longer match.
    for (const n of tokens) if (n % 7 === steps) named(n, n % 2 === 0 ? `another token ${n}` : 'gone')
    steps++
  }
  t.ok(steps > 2, 'other work ran meanwhile')
  const found = step.value.map(({ mint }) => pubkeyToBase58(mint))
  t.equal(new Set(found).size, found.length)
  t.ok(found.length >= 2_000)
})
