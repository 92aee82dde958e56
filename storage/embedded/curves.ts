import type { CurveRow } from '../../src/market/registry-rows.ts'
import type { CurveStore } from '../port.ts'
import { curveKind } from '../codec/curve.ts'
import type { Database } from './database.ts'
import { curveKey } from '../codec/keys.ts'
import type { WriteBatch } from './write-batch.ts'

export function curveStore(database: Database): CurveStore {
  return { ofMint: (mint) => database.read((view) => view.get(curveKind, curveKey(mint))) }
}

export function stageCurves(batch: WriteBatch, curves: readonly CurveRow[]): void {
  for (const curve of curves) batch.put(curveKind, curveKey(curve.mint), curve)
}
