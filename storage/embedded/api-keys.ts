import type { KeyRow, KeyStore } from '../port.ts'
import { apiKeyKind, byKeyCreation } from '../codec/api-key.ts'
import type { Database } from './database.ts'
import { apiKeyIdKey, apiKeyKey, keysOf } from '../codec/keys.ts'
import type { RecordKind } from '../codec/record.ts'
import type { WriteBatch } from './write-batch.ts'

const hashKind: RecordKind<Uint8Array> = {
  name: 'API key index entry',
  write: (out, hash) => out.fixed(hash, 32),
  read: (source) => source.fixed(32),
  weigh: () => 100
}

/** Puts the index entry of a key. */
export function stageListing(batch: WriteBatch, key: KeyRow): void {
  batch.put(hashKind, apiKeyIdKey(key.id), key.hash)
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
        stageListing(batch, key)
        batch.put(apiKeyKind, apiKeyKey(key.hash), key)
        return { kind: 'control', durable: 'key.durable' }
      })
    },
    byHash: (hash) => database.read((view) => view.get(apiKeyKind, apiKeyKey(hash))),
    all: () =>
      database.read(async (view) => {
        const keys: KeyRow[] = []
        for await (const [, key] of view.scan(apiKeyKind, keysOf('k'), { expected: 32 })) keys.push(key)
        return keys.sort(byKeyCreation)
      })
  }
}
