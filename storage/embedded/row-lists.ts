import { poolEventCodec } from './pool-event-codec.ts'
import { RowPages } from './row-pages.ts'
import { tradeCodec } from './trade-codec.ts'

/** The lists of rows that are stored in pages. */
export const tradePages = new RowPages('t', 'trade page', tradeCodec)
export const poolEventPages = new RowPages('e', 'pool event page', poolEventCodec)
