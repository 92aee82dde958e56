import { option, struct, u8, vec } from '../codec.ts'

/** Purpose of the accounts beyond the named ones. */
export const REMAINING = option(struct({ slices: vec(struct({ accountsType: u8, length: u8 })) }))
