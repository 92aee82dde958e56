import { ClassicLevel } from 'classic-level'

/** The writes of one batch, in order; a null value deletes the key. */
export interface RecordedBatch {
  readonly writes: readonly (readonly [key: Buffer, value: Uint8Array | null])[]
  readonly isSynced: boolean
}

/** The batches of each engine, by its folder. */
export type RecordedWrites = ReadonlyMap<string, readonly RecordedBatch[]>

type Batch = ReturnType<ClassicLevel<Buffer, Uint8Array>['batch']>

/** Runs work, and returns copies of all that it writes to engines in batches. */
export async function recordedWrites(work: () => Promise<unknown>): Promise<RecordedWrites> {
  const batches = new Map<string, RecordedBatch[]>()
  const prototype = ClassicLevel.prototype as unknown as { batch: (this: { location: string }) => Batch }
  const original = prototype.batch
  prototype.batch = function batch() {
    const made = original.call(this)
    const writes: [Buffer, Uint8Array | null][] = []
    const { location } = this
    const [put, del, write] = [made.put.bind(made), made.del.bind(made), made.write.bind(made)]
    return Object.assign(made, {
      put(key: Buffer, value: Uint8Array) {
        writes.push([Buffer.from(key), Uint8Array.from(value)])
        return put(key, value)
      },
      del(key: Buffer) {
        writes.push([Buffer.from(key), null])
        return del(key)
      },
      write(options: { readonly sync?: boolean } = {}) {
        const known = batches.get(location) ?? []
        batches.set(location, [...known, { writes, isSynced: options.sync === true }])
        return write(options)
      }
    }) as Batch
  }
  try {
    await work()
  } finally {
    prototype.batch = original
  }
  return batches
}

/** Writes recorded batches to an empty engine. */
export async function replayed(
  level: ClassicLevel<Buffer, Uint8Array>,
  batches: readonly RecordedBatch[]
): Promise<void> {
  for (const { writes, isSynced } of batches) {
    const batch = level.batch()
    for (const [key, value] of writes) {
      if (value === null) batch.del(key)
      else batch.put(key, value)
    }
    await batch.write({ sync: isSynced })
  }
}

/** Returns batches of 1,000 writes that leave the same keys and values, each key once, in the order of the keys. */
export function lastWrites(batches: readonly RecordedBatch[]): RecordedBatch[] {
  const last = new Map<string, readonly [Buffer, Uint8Array | null]>()
  for (const { writes } of batches) for (const write of writes) last.set(write[0].toString('latin1'), write)
  const left = [...last.values()]
    .filter(([, value]) => value !== null)
    .sort(([a], [b]) => Buffer.compare(a, b))
  return Array.from({ length: Math.ceil(left.length / 1_000) }, (_, at) => ({
    writes: left.slice(at * 1_000, (at + 1) * 1_000),
    isSynced: true
  }))
}

/** Returns the number of writes of batches, and their bytes. */
export function sizeOf(batches: readonly RecordedBatch[]): {
  readonly writes: number
  readonly bytes: number
} {
  let [count, bytes] = [0, 0]
  for (const { writes } of batches)
    for (const [key, value] of writes) {
      count++
      bytes += key.length + (value?.length ?? 0)
    }
  return { writes: count, bytes }
}
