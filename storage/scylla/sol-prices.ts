import type { SolPriceRow } from '../../src/market/rows.ts'
import { keysOf } from '../codec/keys.ts'
import { solPriceKind } from '../codec/kinds.ts'
import type { SolPriceStore } from '../port.ts'
import type { ScyllaBase } from './base.ts'
import { BucketedRecords } from './bucketed-records.ts'
import type { Table } from './table.ts'

/** 45 days: 8 MB, if every minute has a price. */
const SECONDS_PER_BUCKET = 65_536 * 60
/** The only owner of prices. */
const ALL = keysOf('x').gte

const recordOf = (value: SolPriceRow) => ({ owner: ALL, position: value.minute, value })

export function solPriceTable(base: ScyllaBase): Table<SolPriceStore> {
  const stored = new BucketedRecords(base, {
    table: 'sol_prices',
    position: 'minute',
    positionBytes: 8,
    positionsPerBucket: SECONDS_PER_BUCKET,
    kind: solPriceKind
  })
  return {
    port: {
      async atOrBefore(minute) {
        if (minute < 0) return null
        const lt = Math.floor(minute) + 1
        const [newest] = await stored.range(ALL, { gte: 0, lt, order: 'desc', limit: 1, likely: true })
        return newest?.value ?? null
      }
    },
    async stage(commit) {
      await stored.stage(commit, commit.blocks.solPrices.map(recordOf))
    },
    async amend(commit, { solPrices: { put, remove } }) {
      await stored.stage(commit, put.map(recordOf))
      await stored.remove(
        commit,
        remove.map((minute) => ({ owner: ALL, position: minute }))
      )
    }
  }
}
