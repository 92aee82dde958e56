import { tokenKey } from '../codec/keys.ts'
import { tokenKind } from '../codec/token.ts'
import type { TokenStore } from '../port.ts'
import { AddressRecords } from './address-records.ts'
import type { ScyllaBase } from './base.ts'
import type { StorePart } from './store-part.ts'

export function tokenPart(base: ScyllaBase): StorePart<TokenStore> {
  const tokens = new AddressRecords(base, {
    table: 'tokens',
    column: 'mint',
    kind: tokenKind,
    storeKey: tokenKey
  })
  return {
    port: { get: (mint) => tokens.get(mint) },
    stage: (commit) => tokens.stageRows(commit, commit.blocks.tokens, ({ mint }) => mint),
    amend: (commit, amendment) => tokens.amendRows(commit, amendment.tokens, ({ mint }) => mint)
  }
}
