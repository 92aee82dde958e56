import { createHash } from 'node:crypto'
import { ClassicLevel } from 'classic-level'

/** First byte of keys of documents. */
const DOCUMENTS = 'D'.charCodeAt(0)

type Raw = ClassicLevel<Buffer, Buffer>

/** Opens the engine of a closed store, for operations that the port does not have. */
export async function withRawStore<T>(directory: string, use: (raw: Raw) => Promise<T>): Promise<T> {
  const raw: Raw = new ClassicLevel(directory, { keyEncoding: 'buffer', valueEncoding: 'buffer' })
  await raw.open()
  try {
    return await use(raw)
  } finally {
    await raw.close()
  }
}

/** Records that are read at a time. */
const BATCH = 1_000

/** Calls `take` for every record, in order. A promise for each record would take as long as all else. */
async function forEachRecord(raw: Raw, take: (key: Buffer, value: Buffer) => void): Promise<void> {
  const iterator = raw.iterator()
  try {
    for (;;) {
      const records = await iterator.nextv(BATCH)
      if (records.length === 0) return
      for (const [key, value] of records) take(key, value)
    }
  } finally {
    await iterator.close()
  }
}

/** Returns a digest of every key and value of a closed store, and their number. */
export function rawContents(directory: string): Promise<{ records: number; digest: string }> {
  return withRawStore(directory, async (raw) => {
    const hash = createHash('sha256')
    let records = 0
    await forEachRecord(raw, (key, value) => {
      hash.update(`${key.length} `).update(key)
      // The version of a document is random.
      if (key[0] !== DOCUMENTS) hash.update(`${value.length} `).update(value)
      records++
    })
    return { records, digest: hash.digest('hex') }
  })
}

/** Returns the records of a closed store by their keys, without documents, whose versions are random, and without `besides`. */
export function recordsOf(
  directory: string,
  besides: (key: string) => boolean = () => false
): Promise<Map<string, string>> {
  return withRawStore(directory, async (raw) => {
    const records = new Map<string, string>()
    await forEachRecord(raw, (key, value) => {
      const text = key.toString('latin1')
      if (key[0] !== DOCUMENTS && !besides(text)) records.set(text, value.toString('latin1'))
    })
    return records
  })
}

/** Returns whether a record is a kept block. */
export const isKeptBlock = (key: string): boolean => key.startsWith('d')

/** Flips one bit in the middle of every value whose key has a prefix. Returns the number of values. */
export function damageRecords(directory: string, prefix: Buffer): Promise<number> {
  return withRawStore(directory, async (raw) => {
    let damaged = 0
    for await (const [key, value] of raw.iterator({ gte: prefix })) {
      if (!key.subarray(0, prefix.length).equals(prefix)) break
      value[value.length >> 1]! ^= 4
      await raw.put(key, value)
      damaged++
    }
    return damaged
  })
}
