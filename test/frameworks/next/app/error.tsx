'use client';

/** The answer to an action was lost: the server may have charged, and knows. */
export default function Lost() {
  return (
    <>
      <p role="status">Not sure yet whether you have paid.</p>
      <button type="button" onClick={() => location.reload()}>
        Look
      </button>
    </>
  );
}
