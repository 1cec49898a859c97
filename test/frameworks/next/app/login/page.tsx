export default function Page() {
  return <p role="alert">Please log in.</p>;
}
