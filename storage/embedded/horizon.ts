import { horizonKey } from '../codec/keys.ts'
import { horizonKind } from '../codec/kinds.ts'
import type { RowHorizon } from '../port.ts'
import type { View } from './view.ts'

const NOTHING_EXPIRED: RowHorizon = { cursor: 0, time: 0 }

/** Where the rows begin that readers see. It is stored, so that a row that was hidden once stays hidden. */
export const horizonOf = (view: View): RowHorizon => view.get(horizonKind, horizonKey()) ?? NOTHING_EXPIRED
