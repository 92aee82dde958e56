import type {
  ActivityStore,
  BlockStore,
  CurveStore,
  PoolStore,
  TenantStore,
  TokenStore,
  TotalsStore,
  TradeStore
} from '../port.ts'

const unbuilt = (): Promise<never> => Promise.reject(new Error('the embedded store does not keep this yet'))

export const firstSince: BlockStore['firstSince'] = unbuilt
export const ofWallet: TradeStore['ofWallet'] = unbuilt
export const activityStore: ActivityStore = { get: unbuilt, range: unbuilt, mintsOfHour: unbuilt }
export const tokenStore: TokenStore = { get: unbuilt }
export const poolStore: PoolStore = { get: unbuilt, ofMint: unbuilt }
export const curveStore: CurveStore = { ofMint: unbuilt }
export const totalsStore: TotalsStore = { get: unbuilt }
export const tenantStore: TenantStore = { create: unbuilt, get: unbuilt, all: unbuilt }
