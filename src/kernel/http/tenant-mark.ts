import { z } from 'zod'

type TenantMark = string & z.core.$brand<'tenant'>

/** Schema of the field `tenant` of an answer. It comes first; `serve` and `serveCached` add it to what a handler returns. */
export const TENANT = z.string().describe('Tenant of the key in use') as unknown as z.ZodType<
  TenantMark,
  TenantMark
>

/** A body as its handler returns it: without the field `tenant`, if the answer has it. */
export type Unmarked<Body> = Body extends { readonly tenant: TenantMark } ? Omit<Body, 'tenant'> : Body

/** Returns a function that adds the field `tenant` to bodies, if the schema of an answer has it. */
export function tenantMark(answer: z.ZodType): <Body>(body: Body, tenant: string) => Body {
  const isMarked = answer instanceof z.ZodObject && answer.shape['tenant'] === TENANT
  return isMarked ? (body, tenant) => ({ tenant, ...body }) : (body) => body
}
