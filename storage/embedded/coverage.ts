import { gapKind } from '../codec/gap.ts'
import { gapKey, genesisKey, horizonKey, keysOf } from '../codec/keys.ts'
import { genesisKind, horizonKind } from '../codec/kinds.ts'
import type { Edit } from '../../src/market/amendment.ts'
import type { CoverageStore, GapRow } from '../port.ts'
import type { Database } from './database.ts'
import type { WriteBatch } from './write-batch.ts'

export function coverageStore(database: Database): CoverageStore {
  const genesis = (): Promise<string | null> => database.read((view) => view.get(genesisKind, genesisKey()))
  return {
    horizon: () => database.read((view) => view.get(horizonKind, horizonKey())),
    genesis,
    async settleGenesis(hash) {
      await database.write(async (view, batch) => {
        if (view.get(genesisKind, genesisKey()) !== null) return null
        batch.put(genesisKind, genesisKey(), hash)
        return { kind: 'control', durable: 'coverage.durable' }
      })
      return (await genesis())!
    },
    async addGap(gap) {
      await database.write(async (_, batch) => {
        batch.put(gapKind, gapKey(gap.from), gap)
        return { kind: 'control', durable: 'coverage.durable' }
      })
    },
    gaps: ({ after, limit }) =>
      database.read(async (view) => {
        const gaps: GapRow[] = []
        const range = after === null ? keysOf('u') : { ...keysOf('u'), gte: gapKey(after + 1) }
        for await (const [, gap] of view.scan(gapKind, range, { expected: Math.min(limit, 32) })) {
          if (gaps.length === limit) break
          gaps.push(gap)
        }
        return gaps
      })
  }
}

export function stageGaps(batch: WriteBatch, { put, remove }: Edit<GapRow, number>): void {
  for (const from of remove) batch.delete(gapKey(from))
  for (const gap of put) batch.put(gapKind, gapKey(gap.from), gap)
}
