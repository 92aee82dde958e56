import t from 'tap'
import { RECORD_NAMES } from '../../src/market/records.ts'
import { readSources } from './sources.ts'

/** Files that name this many records spell them out. */
const SPELLED_OUT = 5
/** Files that may name many records: each has its own fact about records, which follows from no shape. */
const PLACES = {
  'src/market/records.ts': 'declares them',
  'src/market/fold.ts': 'makes their rows',
  'src/market/block-digest.ts': 'lists the addresses that rows change',
  'src/market/activity.ts': 'has fields of the same names',
  'src/market/kept-block.ts': 'reads what runs in series',
  'src/market/market-state.ts': 'holds what runs in series beside rows',
  'src/market/read-set.ts': 'knows whose rows what runs in series is beside',
  'src/market/refold.ts': 'compares lists',
  'storage/codec/kept-block.ts': 'has the names of stored lists',
  'storage/codec/records.ts': 'says how they are stored',
  'actors/ingest/lost-rows.ts': 'puts lists back',
  'storage/embedded/repair/losses.ts': 'knows which follow from the blocks before them',
  'storage/embedded/record-stores.ts': 'has the stores of those with one of their own',
  'storage/port/records.ts': 'says what these answer',
  'storage/row-kinds.ts': 'names kinds of rows for the operator',
  'storage/scylla/record-stores.ts': 'has the stores of those with one of their own',
  'storage/scylla/memtable.ts': 'groups rows for these',
  'storage/scylla/with-memtable.ts': 'has the stores of those with one of their own'
}
/** Where a record is named that has no store of its own, which is all that a new one needs; `curves` is a channel, too. */
const CURVES = [
  'src/market/block-digest.ts',
  'src/market/cursor.ts',
  'src/market/fold.ts',
  'src/market/log.ts',
  'src/market/records.ts',
  'storage/codec/codes.ts',
  'storage/codec/kept-block.ts',
  'storage/codec/records.ts',
  'storage/embedded/repair/losses.ts'
]

const code = (text: string): string =>
  text.replaceAll(/\/\*.*?\*\/|\/\/[^\n]*|^import .*? from '[^']*'$/gms, '')

const named = readSources(['src/market', 'storage', 'actors'])
  .filter(({ path }) => !path.startsWith('storage/test/'))
  .map(({ path, text }) => {
    const words = new Set(code(text).match(/\w+/g))
    return { path, names: RECORD_NAMES.filter((name) => words.has(name)) }
  })

t.test(
  'records are spelled out where they are declared, and where they differ from their shape',
  async (t) => {
    const spelling = named.filter(({ names }) => names.length >= SPELLED_OUT)
    t.same(spelling.map(({ path }) => path).sort(), Object.keys(PLACES).sort())
  }
)

t.test(
  'a record without a store of its own is named by its declaration, its fold and its codec',
  async (t) => {
    const places = named.filter(({ names }) => names.includes('curves'))
    t.same(places.map(({ path }) => path).sort(), CURVES)
  }
)
