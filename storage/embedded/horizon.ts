import { horizonKey } from '../codec/keys.ts'
import { horizonKind } from '../codec/kinds.ts'
import type { RowHorizon } from '../port.ts'
import type { View } from './view.ts'

const NOTHING_EXPIRED: RowHorizon = { cursor: 0, time: 0 }

/** The start of the rows that readers see. It is stored, so that hidden rows stay hidden. */
export const horizonOf = (view: View): RowHorizon => view.get(horizonKind, horizonKey()) ?? NOTHING_EXPIRED
