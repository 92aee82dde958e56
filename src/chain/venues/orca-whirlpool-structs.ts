import { option, struct, u8, vec } from '../codec.ts'

/** Where accounts beyond the named ones belong to. */
export const REMAINING = option(struct({ slices: vec(struct({ accountsType: u8, length: u8 })) }))
