import type { KeyRow, TenantRow } from '../../storage/access-documents.ts'
import { sampleKey, sampleTenant } from '../../storage/test/sample-access.ts'

/** Returns a sample key of the version before limits of work. */
export function earlierKey(n: number): KeyRow {
  const { workPerMinute: _, ...row } = sampleKey(n)
  return row
}

/** Tenants and keys as the version before documents stored them, as names and hashes with their records. */
export const EARLIER: {
  readonly tenants: readonly { readonly row: TenantRow; readonly bytes: string }[]
  readonly keys: readonly { readonly row: KeyRow; readonly bytes: string }[]
} = {
  tenants: [
    { row: sampleTenant(1), bytes: '01f6dd8d1a0874656e616e742d31001000cc829c7942' },
    { row: sampleTenant(2), bytes: '010399e5610874656e616e742d32002000cc829c7942' }
  ],
  keys: [
    {
      row: earlierKey(1),
      bytes:
        '017981c4d5056b65792d316f6742c6b9a1d38cfb98d1f29606afcdd4352a9346504ace620502f10653c9ee046d725f310874656e616e742d310c6b6579206e756d626572203100001000cc829c79423d01000800cc829c894200020a31302e302e302e302f38033a3a310000'
    },
    {
      row: earlierKey(2),
      bytes:
        '01f801055b056b65792d32c53950919d2a9e215d53c32be3ae924edd740f17fda7716ac0acc14f5b20ac87046d725f320874656e616e742d320c6b6579206e756d62657220320209646174613a726561640b73747265616d3a72656164002000cc829c79420001001000cc829c894200000000'
    },
    {
      row: earlierKey(3),
      bytes:
        '01dd2cec2c056b65792d33f5cbdbaffc6e8c46f6cb2cca797cb6c553a3737c0a6d460ab2d8f6ad214c8b26046d725f330874656e616e742d300c6b6579206e756d626572203300003000cc829c7942b5010000020a31302e302e302e302f38033a3a31011368747470733a2f2f6578616d706c652e6f726700'
    },
    {
      row: earlierKey(5),
      bytes:
        '01fb803610056b65792d3528fb16e1e14b260416284d1c91f614e299b235e5cdff67619e7d04d2d7627257046d725f350874656e616e742d320c6b6579206e756d626572203500005000cc829c7942ad0201002800cc829c8942010000001962358342020a31302e302e302e302f38033a3a310000'
    }
  ]
}

/** Tenants of a store of EARLIER: the third is named by a key alone. */
export const EARLIER_TENANTS: readonly TenantRow[] = [
  sampleTenant(1),
  sampleTenant(2),
  { name: 'tenant-0', createdAtMs: earlierKey(3).createdAtMs }
]
export const EARLIER_KEYS: readonly KeyRow[] = EARLIER.keys.map(({ row }) => row)
