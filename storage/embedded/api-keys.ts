import type { KeyRow, KeyStore } from '../port.ts'
import type { Database } from './database.ts'
import { apiKeyKey, keysOf } from './keys.ts'
import { apiKeyKind } from './kinds.ts'

export function apiKeyStore(database: Database): KeyStore {
  return {
    async put(key) {
      await database.write(async (_view, batch) => {
        batch.put(apiKeyKind, apiKeyKey(key.hash), key)
        return { kind: 'key' }
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
