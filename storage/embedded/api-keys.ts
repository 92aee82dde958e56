import type { KeyRow, KeyStore } from '../port.ts'
import type { Database } from './database.ts'
import { apiKeyIdKey, apiKeyKey, keysOf } from './keys.ts'
import type { RecordKind } from './record.ts'

const apiKeyKind: RecordKind<KeyRow> = {
  name: 'API key',
  write(out, row) {
    out.text(row.id)
    out.fixed(row.hash, 32)
    out.text(row.prefix)
    out.text(row.tenant)
    out.text(row.name)
    out.texts(row.scopes)
    out.float(row.createdAtMs)
    out.optionalCount(row.ratePerMinute)
    out.optionalFloat(row.expiresAtMs)
    out.optionalFloat(row.revokedAtMs)
    out.texts(row.allowedIps)
    out.texts(row.corsOrigins)
    out.texts(row.successor === null ? [] : [row.successor])
  },
  read: (source) => ({
    id: source.text(),
    hash: source.fixed(32),
    prefix: source.text(),
    tenant: source.text(),
    name: source.text(),
    scopes: source.texts(),
    createdAtMs: source.float(),
    ratePerMinute: source.optionalCount(),
    expiresAtMs: source.optionalFloat(),
    revokedAtMs: source.optionalFloat(),
    allowedIps: source.texts(),
    corsOrigins: source.texts(),
    successor: source.texts()[0] ?? null
  }),
  weigh: () => 1_000
}

const hashKind: RecordKind<Uint8Array> = {
  name: 'API key index entry',
  write: (out, hash) => out.fixed(hash, 32),
  read: (source) => source.fixed(32),
  weigh: () => 100
}

/** Keys by hash, and an index from their ids. */
export function apiKeyStore(database: Database): KeyStore {
  return {
    async put(key) {
      await database.write(async (view, batch) => {
        const hashBefore = view.get(hashKind, apiKeyIdKey(key.id))
        const keyBefore = view.get(apiKeyKind, apiKeyKey(key.hash))
        if (hashBefore !== null) batch.delete(apiKeyKey(hashBefore))
        if (keyBefore !== null) batch.delete(apiKeyIdKey(keyBefore.id))
        batch.put(hashKind, apiKeyIdKey(key.id), key.hash)
        batch.put(apiKeyKind, apiKeyKey(key.hash), key)
        return { kind: 'beside', durable: 'key.durable' }
      })
    },
    byHash: (hash) => database.read((view) => view.get(apiKeyKind, apiKeyKey(hash))),
    all: () =>
      database.read(async (view) => {
        const keys: KeyRow[] = []
        for await (const [, key] of view.scan(apiKeyKind, keysOf('k'), { expected: 32 })) keys.push(key)
        return keys.sort((a, b) => a.createdAtMs - b.createdAtMs || (a.id < b.id ? -1 : 1))
      })
  }
}
