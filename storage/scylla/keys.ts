import { randomBytes } from 'node:crypto'
import { ServiceError } from '../../src/errors.ts'
import { apiKeyKind, byKeyCreation } from '../codec/api-key.ts'
import { apiKeyKey } from '../codec/keys.ts'
import { packRecord, unpackRecord } from '../codec/record.ts'
import type { KeyRow, KeyStore } from '../port.ts'
import { blob } from './client.ts'
import type { CqlClient, CqlRow, CqlStatement } from './client.ts'
import { readSettled } from './conditional-writes.ts'
import type { ConditionalWrites } from './conditional-writes.ts'
import { isOutage, refused, unanswered } from './errors.ts'

/**
 * All keys are one partition, by hash: their number is the operator's. Each change of them is counted, and is made on
 * condition that there was no other since the keys were looked at.
 */
const ALL = 'all'
const SELECT = 'SELECT hash, key FROM api_keys WHERE collection = ? AND hash = ?'
const SELECT_ALL = 'SELECT hash, key FROM api_keys WHERE collection = ?'
const SELECT_IDS = 'SELECT hash, id, changes, writer FROM api_keys WHERE collection = ?'
const COUNT = 'UPDATE api_keys SET changes = ?, writer = ? WHERE collection = ? IF changes = ?'
const DELETE = 'DELETE FROM api_keys WHERE collection = ? AND hash = ?'
const INSERT = 'INSERT INTO api_keys (collection, hash, id, key) VALUES (?, ?, ?, ?)'
/** Times that a change is made anew because another process made one at the same time, or did not answer. */
const TRIES = 10

export function keyStore(client: CqlClient, writes: ConditionalWrites): KeyStore {
  return {
    put: (key) => writes.run('keys', () => put(client, key)),
    async byHash(hash) {
      const [row] = await client.read(SELECT, [ALL, blob(hash)])
      return row === undefined ? null : keyIn(row)
    },
    async all() {
      const rows = await client.read(SELECT_ALL, [ALL])
      return rows.filter(isKey).map(keyIn).sort(byKeyCreation)
    }
  }
}

async function put(client: CqlClient, key: KeyRow): Promise<void> {
  let lost: unknown = null
  const writer = randomBytes(16)
  for (let tries = 0; tries < TRIES; tries++) {
    const rows = await readSettled(client, { statement: SELECT_IDS, params: [ALL] })
    const [first] = rows
    if (first !== undefined && writer.equals((first['writer'] as Buffer | null) ?? Buffer.of())) return
    try {
      const { applied } = await client.conditional(change(key, rows, writer))
      if (applied) return
    } catch (error) {
      if (!isOutage(error)) throw refused(error)
      lost = error
    }
  }
  if (lost !== null) throw unanswered(lost)
  throw new ServiceError('STORAGE_UNAVAILABLE', 'other processes change keys all the time')
}

/** Puts a key in place of the one with its hash and of those with its id. */
function change(key: KeyRow, rows: readonly CqlRow[], writer: Buffer): CqlStatement[] {
  const changes = (rows[0]?.['changes'] as number | null | undefined) ?? null
  const hash = blob(key.hash)
  const before = rows.filter(
    (row) => isKey(row) && row['id'] === key.id && !hash.equals(row['hash'] as Buffer)
  )
  const value = Buffer.from(packRecord(apiKeyKind, apiKeyKey(key.hash), key))
  return [
    { statement: COUNT, params: [(changes ?? 0) + 1, writer, ALL, changes] },
    ...before.map((row) => ({ statement: DELETE, params: [ALL, row['hash']] })),
    { statement: INSERT, params: [ALL, hash, key.id, value] }
  ]
}

/** A partition without a key has one row of its own, about its changes. */
const isKey = (row: CqlRow): boolean => row['hash'] !== null

const keyIn = (row: CqlRow): KeyRow => {
  const hash = row['hash'] as Buffer
  return unpackRecord(apiKeyKind, apiKeyKey(hash), row['key'] as Buffer)
}
