import type { Storage } from '../../../storage/port.ts'
import { currentReads, type ReadCount } from '../../access/counted-reads.ts'
import type { RecordName } from '../../market/records.ts'

/** The stores whose reads are counted. `program-accounts/mirror-reader.ts` counts its own reads of program accounts. */
type CountedName = RecordName | 'blocks' | 'coverage' | 'documents' | 'holders' | 'ledger'
/** Whether a method reads rows; a function returns the rows that it reads in addition to those that it returns. */
type Reads<Store> = {
  readonly [Method in keyof Store]: boolean | ((...input: InputOf<Store[Method]>) => number)
}
type InputOf<Method> = Method extends (...input: infer Input) => unknown ? Input : never

const GET = { get: true } as const
const READS: { readonly [Name in CountedName]: Reads<Storage[Name]> } = {
  trades: { ofMint: true, ofWallet: true },
  poolEvents: { ofPool: true },
  candles: { ...GET, range: true },
  launches: { ...GET, page: ({ offset = 0 }) => offset },
  pairs: { ...GET, ofMint: true, ofMints: true },
  solPrices: { ...GET, atOrBefore: true },
  activity: { ...GET, range: true, minutesOfMint: true, mintsOfHour: true },
  tokens: { ...GET, list: true, compare: false },
  pools: { ...GET, ofMint: true, ofVaultOwner: true },
  curves: GET,
  totals: GET,
  log: { read: true },
  blocks: {
    ...{ claim: false, confirmClaim: false, commit: false, commitAll: false },
    ...{ head: true, has: true, at: true, between: true, firstSince: true }
  },
  coverage: { horizon: true, genesis: true, settleGenesis: false, addGap: false, gaps: true },
  documents: {
    ...{ get: true, owner: true, list: true, fenced: true },
    ...{ put: false, delete: false, putFenced: false, fence: false },
    ...{ newest: true, append: false, deleteUpTo: false }
  },
  holders: { put: false, at: true, page: true, drop: false, clear: false },
  ledger: { put: false, pages: true, sums: true, marks: true, drop: false }
}

/** Minutes of activity that take as long as a row: decoding and folding one takes 0.6 µs. */
const MINUTES_PER_ROW = 8

/** Returns a store whose reads are counted for the request that makes them. All other members are unchanged. */
export function countedStorage(storage: Storage): Storage {
  const counted = new Map<PropertyKey, object>(
    Object.entries(READS).map(([name, methods]) => [
      name,
      countedStore(storage, name as CountedName, methods)
    ])
  )
  return new Proxy(storage, {
    get(target, name) {
      const store = counted.get(name)
      if (store !== undefined) return store
      const member: unknown = Reflect.get(target, name, target)
      return typeof member === 'function' ? (member.bind(target) as unknown) : member
    }
  })
}

/** Returns an object with a store, such as an archive, whose store is counted. */
export const withCountedStorage = <T extends { readonly storage: Storage }>(owner: T): T => ({
  ...owner,
  storage: countedStorage(owner.storage)
})

type Method = (...input: unknown[]) => Promise<unknown>
type MethodReads = boolean | ((...input: unknown[]) => number)

/** Returns the methods of one of a storage's stores, with counts for those that read. */
function countedStore(storage: Storage, name: CountedName, methods: object): object {
  const counted = ([method, reads]: [string, MethodReads]): [string, Method] => [
    method,
    (...input) => {
      const read = (storage[name] as unknown as Record<string, Method>)[method]!(...input)
      const reader = reads === false ? null : currentReads()
      if (reader === null) return read
      return counting(read, reader, typeof reads === 'function' ? reads(...input) : 0)
    }
  ]
  // Some methods are optional; a caller sees which ones the store has.
  const store: object | undefined = storage[name]
  const present = Object.entries(methods as Record<string, MethodReads>).filter(
    ([method]) => store === undefined || method in store
  )
  return Object.fromEntries(present.map(counted))
}

/** Counts the rows of a read before its reader continues with them. */
function counting(read: Promise<unknown>, reader: ReadCount, besides: number): Promise<unknown> {
  read.then(
    (found) => reader.countRead(Math.max(1, rowsIn(found)) + besides),
    () => reader.countRead(1)
  )
  return read
}

/** Tells whether an element of a list counts as more than a row. The elements of a list are of one kind. */
const isSeveral = (element: unknown): boolean =>
  Array.isArray(element) || (typeof element === 'object' && element !== null && 'minutes' in element)

/** Returns the number of rows in a store's answer: a row, a list of them or of lists, or a page. */
function rowsIn(found: unknown): number {
  if (Array.isArray(found)) {
    if (!isSeveral(found[0])) return found.length
    return found.reduce((rows: number, each) => rows + rowsIn(each), 0)
  }
  if (typeof found !== 'object' || found === null) return 1
  if ('rows' in found && Array.isArray(found.rows)) return rowsIn(found.rows)
  if (!('minutes' in found)) return 1
  const { minutes } = found
  const count = Array.isArray(minutes) ? minutes.length : typeof minutes === 'number' ? minutes : 0
  return 1 + Math.floor(count / MINUTES_PER_ROW)
}
