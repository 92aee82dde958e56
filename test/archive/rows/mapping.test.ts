import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { BUILT_IN_MAPPINGS } from '../../../src/archive/rows/built-in-mapping.ts'
import { chooseColumns } from '../../../src/archive/rows/column-choice.ts'
import { readMapping, readMappingFile } from '../../../src/archive/rows/mapping-file.ts'
import { fieldsOf, type Mapping } from '../../../src/archive/rows/mapping.ts'
import { lackingFields } from '../../../src/archive/rows/row-field.ts'
import { TRADE } from '../../../src/data/bodies/trade-schema.ts'
import { pubkeyToBase58 } from '../../../src/chain/pubkey.ts'
import { readFiles } from './read-files.ts'
import {
  addressOf,
  csvText,
  ndjsonText,
  PUMP_MINT,
  PUMPFUN,
  signatureOf,
  WSOL,
  type SampleRow
} from './sample-rows.ts'

/** A trade in the columns of Dune's table. */
const DUNE: SampleRow = {
  blockchain: 'solana',
  project: 'pumpdotfun',
  block_time: '2024-03-09 16:00:00.000 UTC',
  block_slot: 254_170_887,
  token_bought_amount: 4_140_377.283519,
  token_sold_amount: 0.039953751,
  token_bought_amount_raw: '4140377283519',
  token_sold_amount_raw: '39953751',
  token_bought_mint_address: PUMP_MINT,
  token_sold_mint_address: WSOL,
  project_program_id: addressOf(3),
  project_main_id: PUMPFUN,
  trader_id: addressOf(4),
  tx_id: signatureOf(1),
  outer_instruction_index: 3,
  inner_instruction_index: 1,
  tx_index: 221
}

/** The same trade as Bitquery writes it, with nested objects. */
const BITQUERY = {
  Block: { Slot: 254_170_887, Time: 1_710_000_000 },
  Instruction: { ExternalSeqNumber: 3, InternalSeqNumber: 1, CallPath: [2] },
  Trade: {
    Buy: { Amount: '4140377.283519', Price: 0.0, Currency: { Decimals: 6, MintAddress: PUMP_MINT } },
    Sell: { Amount: '0.039953751', Currency: { Decimals: 9, MintAddress: '1'.repeat(32) } },
    Dex: { ProgramAddress: PUMPFUN },
    Market: { MarketAddress: addressOf(3) }
  },
  Transaction: { Index: 221, Result: { Success: 'true' }, Signature: signatureOf(1), Signer: addressOf(4) }
}

/** The same trade in the columns of Flipside's table, with the joined decimals, as Snowflake spells them. */
const FLIPSIDE: SampleRow = {
  SWAP_PROGRAM: 'pump.fun',
  BLOCK_ID: 254_170_887,
  BLOCK_TIMESTAMP: '2024-03-09 16:00:00.000',
  TX_ID: signatureOf(1),
  PROGRAM_ID: PUMPFUN,
  SWAPPER: addressOf(4),
  SWAP_FROM_MINT: WSOL,
  SWAP_FROM_AMOUNT: 0.039953751,
  SWAP_FROM_DECIMALS: 9,
  SWAP_TO_MINT: PUMP_MINT,
  SWAP_TO_AMOUNT: 4_140_377.283519,
  SWAP_TO_DECIMALS: 6
}

async function readOne(
  t: Test,
  name: string,
  text: string,
  mappings: readonly Mapping[] = BUILT_IN_MAPPINGS
) {
  const path = join(t.testdir(), name)
  writeFileSync(path, text)
  return readFiles([path], { mappings })
}

t.test('files of vendors are recognized by their columns, and state the same trade', async (t) => {
  for (const [vendor, text, name] of [
    ['dune dex_solana.trades', csvText([DUNE]), 'a.csv'],
    ['bitquery DEXTrades', `${JSON.stringify(BITQUERY)}\n`, 'a.ndjson'],
    ['flipside ez_dex_swaps', csvText([FLIPSIDE]), 'a.csv']
  ] as const) {
    const { facts, tally, refusals } = await readOne(t, name, text)
    t.same([refusals, [...tally.byMapping]], [[], [[vendor, 1]]])
    const [fact] = facts
    t.match(fact, {
      slot: 254_170_887,
      blockTime: 1_710_000_000,
      venue: 'pumpfun',
      in: { amountRaw: 39_953_751n },
      out: { amountRaw: 4_140_377_283_519n }
    })
    t.equal(pubkeyToBase58(fact!.in.mint), WSOL)
    t.equal(pubkeyToBase58(fact!.trader!), addressOf(4))
    if (vendor.startsWith('flipside')) continue
    t.equal(pubkeyToBase58(fact!.pool!), addressOf(3))
    t.same(fact!.place, { txIndex: 221, ixIndex: 2, innerIxIndex: 0 })
  }
})

t.test('flattened columns of Bitquery may be joined by dots', async (t) => {
  const flat = (object: object, prefix = ''): SampleRow =>
    Object.fromEntries(
      Object.entries(object).flatMap(([name, value]: [string, unknown]) =>
        typeof value === 'object' && !Array.isArray(value)
          ? Object.entries(flat(value!, `${prefix}${name}.`))
          : [[prefix + name, Array.isArray(value) ? '[]' : (value as string)]]
      )
    )
  const { facts } = await readOne(t, 'a.csv', csvText([flat(BITQUERY)]))
  t.equal(facts.length, 1)
})

t.test(
  'every built-in mapping has what a trade needs, and the own columns are those of the API',
  async (t) => {
    for (const mapping of BUILT_IN_MAPPINGS) t.same(lackingFields(fieldsOf(mapping), false), [], mapping.name)
    const own = BUILT_IN_MAPPINGS[0]!
    t.same(
      Object.values(own.columns).filter((column) => !(column in TRADE.shape)),
      []
    )
  }
)

t.test('a file whose columns fit no mapping is refused with what is missing', async (t) => {
  const { SWAP_FROM_DECIMALS, ...lacking } = FLIPSIDE
  t.equal(SWAP_FROM_DECIMALS, 9)
  t.match((await readOne(t, 'a.csv', csvText([lacking]))).refusals, [
    /^no-mapping .*flipside ez_dex_swaps fits best, but there is nothing for in_amount_raw.*missing columns: swap_from_decimals/
  ])
  t.match((await readOne(t, 'a.csv', 'x,y\n1,2\n')).refusals, [
    /^no-mapping .*no built-in mapping fits; name one with --map; the columns are x, y$/
  ])
})

const OTHER = {
  when: 'block_time',
  tx: 'signature',
  dex: 'venue',
  give: 'in_mint',
  get: 'out_mint',
  give_raw: 'in_amount_raw',
  get_raw: 'out_amount_raw'
}
const OTHER_ROW: SampleRow = {
  when: '2024-03-09T16:00:00Z',
  tx: signatureOf(1),
  dex: 'pumpfun',
  give: WSOL,
  get: PUMP_MINT,
  give_raw: 39_953_751n,
  get_raw: 4_140_377_283_519n
}

t.test('a mapping file names the columns of any other file', async (t) => {
  const path = join(t.testdir({ 'map.json': JSON.stringify(OTHER) }), 'map.json')
  const reading = await readMappingFile(path, false)
  if (reading.kind !== 'mapping') throw new Error(reading.detail)
  const { facts } = await readOne(t, 'a.ndjson', ndjsonText([OTHER_ROW]), [reading.mapping])
  t.match(facts, [{ slot: null, blockTime: 1_710_000_000, in: { amountRaw: 39_953_751n } }])
  const { give_raw: _, ...lacking } = OTHER_ROW
  t.match((await readOne(t, 'a.csv', csvText([lacking]), [reading.mapping])).refusals, [
    /^missing-column .*: no column give_raw; the columns are when, tx, dex, give, get, get_raw$/
  ])
})

t.test('a mapping file that cannot be used says why', async (t) => {
  const refusalOf = (value: unknown, hasVenue = false): string => {
    const reading = readMapping(
      typeof value === 'string' ? value : JSON.stringify(value),
      'map.json',
      hasVenue
    )
    return reading.kind === 'refused' ? reading.detail : 'used'
  }
  t.equal(refusalOf(OTHER), 'used')
  t.match(refusalOf('{'), /^map\.json: is not JSON/)
  t.match(refusalOf([1]), /^map\.json: is not an object/)
  t.match(
    refusalOf({ ...OTHER, dex: 'exchange' }),
    /^map\.json: column "dex" names no field; the fields are slot, /
  )
  t.match(
    refusalOf({ ...OTHER, time: 'block_time' }),
    /^map\.json: field block_time has two columns, when and time$/
  )
  const { dex: _, ...noVenue } = OTHER
  t.match(refusalOf(noVenue), /^map\.json: no column for venue or program; --venue can replace the venue$/)
  t.equal(refusalOf(noVenue, true), 'used')
  t.match(refusalOf({}, true), /^map\.json: no column for signature; slot or block_time; in_mint; out_mint; /)
  t.match(await readMappingFile(join(t.testdir(), 'none.json'), false), {
    detail: /none\.json cannot be read \(ENOENT/
  })
})

t.test('an exact column name wins over one of another case', async (t) => {
  const mapping: Mapping = { name: 'a', isStrict: true, columns: { signature: 'TX' } }
  const choose = (columns: readonly string[]) =>
    chooseColumns([{ ...mapping, columns: { ...full, signature: 'TX' } }], columns, true)
  const full = { slot: 's', in_mint: 'i', out_mint: 'o', in_amount_raw: 'ia', out_amount_raw: 'oa' }
  const rest = ['s', 'i', 'o', 'ia', 'oa']
  const chosen = (columns: readonly string[]): string | undefined =>
    choose(columns).selected.find(({ field }) => field === 'signature')?.column
  t.equal(chosen(['tx', 'TX', ...rest]), 'TX')
  t.equal(chosen(['tx', ...rest]), 'tx')
})
