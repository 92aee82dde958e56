import { errorKinds, final } from '../kernel/error-kind.ts'

/** Errors of the whitelist of programs, and of the accounts mirrored for it. */
export const PROGRAM_ERRORS = errorKinds({
  PROGRAM_NOT_WHITELISTED: final(403, 'program_not_whitelisted', 'Program not whitelisted', {
    meaning: 'The accounts of the program are not mirrored.',
    remedy: 'Ask the operator to add the program to the whitelist.',
    example: 'program TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA is not whitelisted'
  }),
  PROGRAM_NOT_FOUND: final(404, 'program_not_found', 'Program not found', {
    meaning: 'The program is not on the whitelist.',
    remedy: 'List the programs with GET /v1/admin/programs.',
    example: 'program TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA is not on the whitelist'
  }),
  PROGRAM_LIMIT_REACHED: final(409, 'program_limit_reached', 'Program limit reached', {
    meaning: 'The whitelist has 50 programs, the most that are mirrored.',
    remedy: 'Remove one first.',
    example: 'the whitelist has 50 programs, the most that it may have'
  })
})
