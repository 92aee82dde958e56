import type { IndexedRange, IndexLookup } from '../../storage/port.ts'
import type { AccountFilter } from './account-filters.ts'
import type { IndexProgress } from './program.ts'
import type { ProgramStatus } from './whitelist.ts'

/** Returns whether two ranges are equal. */
export const sameRange = (a: IndexedRange, b: IndexedRange): boolean =>
  a.offset === b.offset && a.length === b.length

/** A declared index, with its state in the mirror. */
export type DeclaredIndex = Omit<IndexProgress, 'state'> & { readonly state: 'building' | 'ready' }

/** Returns the declared indexes of a program. An index that the mirror has not begun yet is `building`. */
export const declaredIndexes = ({ program, progress }: ProgramStatus): DeclaredIndex[] =>
  program.indexes.map(({ offset, length }) => {
    const begun = progress.indexes.find((each) => sameRange(each, { offset, length }))
    const isReady = begun?.state === 'ready'
    const versions = begun === undefined || begun.state === 'removing' ? 0 : begun.versions
    return { offset, length, state: isReady ? 'ready' : 'building', versions }
  })

const readyIndexes = (status: ProgramStatus): DeclaredIndex[] =>
  declaredIndexes(status).filter(({ state }) => state === 'ready')

/**
 * Returns index lookups for accounts that pass the filters: one for each ready index whose range a memcmp covers. The
 * memcmp may compare more bytes than the range.
 */
export function lookupsOf(filters: readonly AccountFilter[], status: ProgramStatus): IndexLookup[] {
  const ready = readyIndexes(status)
  return filters.flatMap((filter) => {
    if (!('memcmp' in filter)) return []
    const { offset: first, bytes } = filter.memcmp
    return ready.flatMap(({ offset, length }) => {
      const from = offset - first
      if (from < 0 || from + length > bytes.length) return []
      return [{ offset, length, value: bytes.subarray(from, from + length) }]
    })
  })
}

/** Returns whether an index is still ready after it was read. */
export const isReady = (index: IndexedRange, status: ProgramStatus): boolean =>
  readyIndexes(status).some((each) => sameRange(each, index))
