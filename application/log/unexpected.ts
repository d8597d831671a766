/** Returns the error for a refusal that the sent command cannot cause. It is a defect. */
export const unexpected = (who: string, { _tag }: { readonly _tag: string }): Error =>
  new Error(`${who} refused with ${_tag}`)
