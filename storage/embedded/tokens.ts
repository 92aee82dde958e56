import type { TokenRow } from '../../src/market/registry-rows.ts'
import type { TokenStore } from '../port.ts'
import type { Database } from './database.ts'
import { tokenKey } from '../codec/keys.ts'
import { tokenKind } from '../codec/token.ts'
import type { WriteBatch } from './write-batch.ts'

export function tokenStore(database: Database): TokenStore {
  return { get: (mint) => database.read((view) => view.get(tokenKind, tokenKey(mint))) }
}

export function stageTokens(batch: WriteBatch, tokens: readonly TokenRow[]): void {
  for (const token of tokens) batch.put(tokenKind, tokenKey(token.mint), token)
}
