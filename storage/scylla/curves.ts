import { curveKind } from '../codec/curve.ts'
import { curveKey } from '../codec/keys.ts'
import type { CurveStore } from '../port.ts'
import { AddressRecords } from './address-records.ts'
import type { ScyllaBase } from './base.ts'
import type { StorePart } from './store-part.ts'

export function curvePart(base: ScyllaBase): StorePart<CurveStore> {
  const curves = new AddressRecords(base, {
    table: 'curves',
    column: 'mint',
    kind: curveKind,
    storeKey: curveKey
  })
  return {
    port: { ofMint: (mint) => curves.get(mint) },
    stage: (commit) => curves.stageRows(commit, commit.blocks.curves, ({ mint }) => mint),
    amend: (commit, amendment) => curves.amendRows(commit, amendment.curves, ({ mint }) => mint)
  }
}
