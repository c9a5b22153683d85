// Tests of JDBC, Hibernate, jOOQ and Spring on a server that listens at PGPORT, and behind PgBouncer at POOLER_PORT.  Prints TAP;
// the database has the table and the guard of migrations/1_proposals/up.sql.
//
//     java neardup.Frameworks DATABASE
package neardup;

import static org.jooq.impl.DSL.*;

import jakarta.persistence.*;
import java.io.StringReader;
import java.sql.*;
import java.util.*;
import java.util.stream.*;
import org.hibernate.SessionFactory;
import org.hibernate.StatelessSession;
import org.hibernate.annotations.GeneratedColumn;
import org.hibernate.exception.ConstraintViolationException;
import org.hibernate.jpa.HibernatePersistenceConfiguration;
import org.jooq.DSLContext;
import org.jooq.Field;
import org.jooq.SQLDialect;
import org.postgresql.PGConnection;
import org.postgresql.util.PSQLException;
import org.springframework.context.annotation.*;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.data.annotation.ReadOnlyProperty;
import org.springframework.data.jdbc.repository.config.AbstractJdbcConfiguration;
import org.springframework.data.jdbc.repository.config.EnableJdbcRepositories;
import org.springframework.data.jdbc.repository.query.Query;
import org.springframework.data.repository.CrudRepository;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.namedparam.NamedParameterJdbcOperations;
import org.springframework.jdbc.core.namedparam.NamedParameterJdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

public class Frameworks {
    static final String TEXT = "The library needs a new roof, since the old one leaks whenever it rains in autumn.";
    static final String NEAR = TEXT.replace("autumn", "spring");
    static final String FAR = "A playground for the children of the valley, and benches for their parents.";
    static final String USER = System.getenv("PGUSER"), PASSWORD = System.getenv("PGPASSWORD");
    static String database;
    static int count, failures;

    static void check(boolean ok, String name) {
        if (!ok) failures++;
        System.out.println((ok ? "ok " : "not ok ") + ++count + " - " + name);
    }

    /** What each framework does in its own way. */
    interface Client {
        void load() throws Exception;
        List<Long> search(String text, double threshold) throws Exception;
        byte[] sign(String text) throws Exception;
        List<Long> search(byte[] signature, double threshold) throws Exception;
        byte[][] all() throws Exception;
        long count(byte[][] signatures) throws Exception;
        void insert(String body) throws Exception;
        boolean isRefusal(Exception error);
    }

    static void scenario(String name, Client client) throws Exception {
        client.load();
        List<Long> found = client.search(NEAR, 0.5);
        check(found.size() == 1, name + ": rows are loaded in bulk, a threshold is a parameter");
        check(client.search(client.sign(NEAR), 0.5).equals(found), "bytes are results, and parameters");
        byte[][] all = client.all();
        check(all.length == 2 && client.count(all) == 2, "and arrays of them");
        try {
            client.insert(NEAR);
            check(false, "a copy is refused");
        } catch (Exception error) {
            Throwable cause = error;
            while (!(cause instanceof PSQLException)) cause = cause.getCause();
            var message = ((PSQLException) cause).getServerErrorMessage();
            check(message.getSQLState().equals("23P01") && message.getConstraint().equals("no_copies") && message.getDetail().contains("A roof")
                && client.isRefusal(error), "a refusal tells of the other row");
        }
    }

    static String url(String port) {
        return "jdbc:postgresql://localhost:" + System.getenv(port) + "/" + database;
    }

    static Connection open(String url) throws SQLException {
        return DriverManager.getConnection(url, USER, PASSWORD);
    }

    // ---- JDBC ----

    record Jdbc(Connection connection) implements Client {
        PreparedStatement prepare(String query, Object... values) throws SQLException {
            PreparedStatement statement = connection.prepareStatement(query);
            for (int i = 0; i < values.length; i++) {
                if (values[i] instanceof byte[][] array) statement.setArray(i + 1, connection.createArrayOf("bytea", array));
                else statement.setObject(i + 1, values[i]);
            }
            return statement;
        }

        ResultSet first(String query, Object... values) throws SQLException {
            ResultSet rows = prepare(query, values).executeQuery();
            rows.next();
            return rows;
        }

        List<Long> ids(String query, Object... values) throws SQLException {
            List<Long> ids = new ArrayList<>();
            ResultSet rows = prepare(query, values).executeQuery();
            while (rows.next()) ids.add(rows.getLong(1));
            return ids;
        }

        public void load() throws Exception {
            connection.unwrap(PGConnection.class).getCopyAPI()
                .copyIn("COPY proposals (title, body) FROM STDIN", new StringReader("A roof\t" + TEXT + "\n\\N\t" + FAR + "\n"));
        }

        public List<Long> search(String text, double threshold) throws SQLException {
            return ids("SELECT id FROM proposals WHERE is_similar(sig, to_minhash(?), ?)", text, threshold);
        }

        public byte[] sign(String text) throws SQLException {
            return first("SELECT to_minhash(?)::bytea", text).getBytes(1);
        }

        public List<Long> search(byte[] signature, double threshold) throws SQLException {
            return ids("SELECT id FROM proposals WHERE is_similar(sig, ?::minhash, ?)", signature, threshold);
        }

        public byte[][] all() throws SQLException {
            return (byte[][]) first("SELECT array_agg(sig)::bytea[] FROM proposals").getArray(1).getArray();
        }

        public long count(byte[][] signatures) throws SQLException {
            return first("SELECT count(*) FROM proposals WHERE sig = ANY (?::minhash[])", (Object) signatures).getLong(1);
        }

        public void insert(String body) throws SQLException {
            prepare("INSERT INTO proposals (body) VALUES (?)", body).executeUpdate();
        }

        public boolean isRefusal(Exception error) {
            return error instanceof PSQLException;
        }
    }

    /** Two connections share one of the server's, transaction by transaction. */
    static void pooled() throws SQLException {
        String url = url("POOLER_PORT") + "?prepareThreshold=0";
        Jdbc[] pair = { new Jdbc(open(url)), new Jdbc(open(url)) };
        int found = 0;
        for (int i = 0; i < 20; i++) found += pair[i % 2].search(NEAR, 0.5).size();
        check(found == 20, "behind PgBouncer");
        for (Jdbc one : pair) one.connection.close();
    }

    // ---- Hibernate ----

    @Entity(name = "Grant")
    @Table(name = "proposals")
    public static class Grant {
        @Id @GeneratedValue(strategy = GenerationType.IDENTITY) Long id;
        String title;
        @Column(nullable = false, columnDefinition = "text") String body;
        @GeneratedColumn("to_minhash(body)") @Column(columnDefinition = "minhash") String sig;

        static Grant of(String title, String body) {
            Grant grant = new Grant();
            grant.title = title;
            grant.body = body;
            return grant;
        }
    }

    record Hibernate(SessionFactory factory) implements Client {
        <T> T one(Class<T> type, String query, Object... values) {
            return factory.fromStatelessSession(session -> {
                var asked = session.createNativeQuery(query, type);
                for (int i = 0; i < values.length; i++) asked.setParameter(i + 1, values[i]);
                return asked.getSingleResult();
            });
        }

        public void load() {
            factory.inStatelessTransaction(session -> session.insertMultiple(List.of(Grant.of("A roof", TEXT), Grant.of(null, FAR))));
        }

        public List<Long> search(String text, double threshold) {
            return factory.fromStatelessSession(session -> session
                .createSelectionQuery("select id from Grant where function(is_similar as Boolean, sig, to_minhash(:text), :threshold)", Long.class)
                .setParameter("text", text).setParameter("threshold", threshold).getResultList());
        }

        public byte[] sign(String text) {
            return one(byte[].class, "SELECT CAST(to_minhash(?) AS bytea)", text);
        }

        public List<Long> search(byte[] signature, double threshold) {
            return factory.fromStatelessSession(session -> session
                .createNativeQuery("SELECT id FROM proposals WHERE is_similar(sig, CAST(:mine AS minhash), :threshold)", Long.class)
                .setParameter("mine", signature).setParameter("threshold", threshold).getResultList());
        }

        public byte[][] all() {
            return one(byte[][].class, "SELECT CAST(array_agg(sig) AS bytea[]) FROM proposals");
        }

        public long count(byte[][] signatures) {
            return one(Long.class, "SELECT count(*) FROM proposals WHERE sig = ANY (CAST(? AS minhash[]))", (Object) signatures);
        }

        public void insert(String body) {
            factory.inTransaction(session -> session.persist(Grant.of(null, body)));
        }

        public boolean isRefusal(Exception error) {
            return error instanceof ConstraintViolationException violation && violation.getSQLState().equals("23P01");
        }
    }

    static void hibernate(Connection connection) throws Exception {
        var settings = new HibernatePersistenceConfiguration("frameworks").managedClass(Grant.class).jdbcUrl(url("PGPORT")).jdbcCredentials(USER, PASSWORD);
        try (SessionFactory factory = settings.createEntityManagerFactory()) {
            factory.getSchemaManager().exportMappedObjects(false);
            connection.createStatement().execute("SELECT neardup_guard('proposals', 'sig', 0.5, name => 'no_copies', show => 'title')");
            scenario("Hibernate", new Hibernate(factory));
            factory.getSchemaManager().validateMappedObjects();
            String sig = factory.fromStatelessSession(session -> session.createSelectionQuery("from Grant where title is not null", Grant.class).getSingleResult().sig);
            check(sig.equals(new Jdbc(connection).first("SELECT to_minhash(?)::text", TEXT).getString(1)), "an entity has the signature as its text");
            factory.getSchemaManager().dropMappedObjects(false);
        }
    }

    // ---- jOOQ ----

    record Jooq(DSLContext create) implements Client {
        static final Field<Long> ID = field("id", Long.class);
        static final Field<String> TITLE = field("title", String.class), BODY = field("body", String.class);
        static final org.jooq.Table<?> PROPOSALS = table("proposals");

        public void load() {
            create.insertInto(PROPOSALS, TITLE, BODY).values("A roof", TEXT).values(null, FAR).execute();
        }

        public List<Long> search(String text, double threshold) {
            return create.select(ID).from(PROPOSALS).where("is_similar(sig, to_minhash({0}), {1})", val(text), val(threshold)).fetch(ID);
        }

        public byte[] sign(String text) {
            return create.select(field("to_minhash({0})::bytea", byte[].class, val(text))).fetchSingle().value1();
        }

        public List<Long> search(byte[] signature, double threshold) {
            return create.select(ID).from(PROPOSALS).where("is_similar(sig, {0}::minhash, {1})", val(signature), val(threshold)).fetch(ID);
        }

        public byte[][] all() {
            return create.select(field("array_agg(sig)::bytea[]", byte[][].class)).from(PROPOSALS).fetchSingle().value1();
        }

        public long count(byte[][] signatures) {
            return create.fetchCount(PROPOSALS, condition("sig = ANY ({0}::minhash[])", val(signatures)));
        }

        public void insert(String body) {
            create.insertInto(PROPOSALS, BODY).values(body).execute();
        }

        public boolean isRefusal(Exception error) {
            return error instanceof org.jooq.exception.DataAccessException refused && refused.sqlState().equals("23P01");
        }
    }

    // ---- Spring ----

    @org.springframework.data.relational.core.mapping.Table("proposals")
    public record Offer(@org.springframework.data.annotation.Id Long id, String title, String body) {}

    public interface Offers extends CrudRepository<Offer, Long> {
        @Query("SELECT id FROM proposals WHERE is_similar(sig, to_minhash(:text), :threshold)")
        List<Long> search(String text, double threshold);

        @Query("SELECT id FROM proposals WHERE is_similar(sig, :signature::minhash, :threshold)")
        List<Long> search(byte[] signature, double threshold);
    }

    @Configuration
    @EnableJdbcRepositories(considerNestedRepositories = true)
    public static class Settings extends AbstractJdbcConfiguration {
        @Bean DriverManagerDataSource dataSource() {
            return new DriverManagerDataSource(url("PGPORT"), USER, PASSWORD);
        }

        @Bean NamedParameterJdbcOperations operations() {
            return new NamedParameterJdbcTemplate(dataSource());
        }

        @Bean DataSourceTransactionManager transactionManager() {
            return new DataSourceTransactionManager(dataSource());
        }
    }

    record Spring(Offers offers, JdbcTemplate template) implements Client {
        public void load() {
            offers.saveAll(List.of(new Offer(null, "A roof", TEXT), new Offer(null, null, FAR)));
        }

        public List<Long> search(String text, double threshold) {
            return offers.search(text, threshold);
        }

        public byte[] sign(String text) {
            return template.queryForObject("SELECT to_minhash(?)::bytea", byte[].class, text);
        }

        public List<Long> search(byte[] signature, double threshold) {
            return offers.search(signature, threshold);
        }

        public byte[][] all() {
            return template.queryForObject("SELECT array_agg(sig)::bytea[] FROM proposals", (row, number) -> (byte[][]) row.getArray(1).getArray());
        }

        public long count(byte[][] signatures) {
            return template.queryForObject("SELECT count(*) FROM proposals WHERE sig = ANY (?::minhash[])", Long.class, (Object) signatures);
        }

        public void insert(String body) {
            offers.save(new Offer(null, null, body));
        }

        public boolean isRefusal(Exception error) {
            return error instanceof DataIntegrityViolationException || error.getCause() instanceof DataIntegrityViolationException;
        }
    }

    static void spring() throws Exception {
        try (var context = new AnnotationConfigApplicationContext(Settings.class)) {
            scenario("Spring", new Spring(context.getBean(Offers.class), new JdbcTemplate(context.getBean(DriverManagerDataSource.class))));
        }
    }

    static String versions() {
        Class<?>[] classes = { org.postgresql.Driver.class, SessionFactory.class, DSLContext.class, JdbcTemplate.class, CrudRepository.class, EnableJdbcRepositories.class };
        return Stream.of(classes).map(one -> one.getProtectionDomain().getCodeSource().getLocation().getPath().replaceFirst(".*/(.*)[.]jar", "$1")).collect(Collectors.joining(", "));
    }

    public static void main(String[] arguments) throws Exception {
        database = arguments[0];
        System.out.println("# Java " + System.getProperty("java.version") + ", " + versions());
        try (Connection connection = open(url("PGPORT"))) {
            Statement statement = connection.createStatement();
            scenario("JDBC", new Jdbc(connection));
            pooled();
            statement.execute("TRUNCATE proposals");
            scenario("jOOQ", new Jooq(using(connection, SQLDialect.POSTGRES)));
            statement.execute("TRUNCATE proposals");
            spring();
            statement.execute("DROP TABLE proposals");
            hibernate(connection);
            check(new Jdbc(connection).first("SELECT to_regclass('proposals') IS NULL").getBoolean(1), "up and down");
        }
        System.out.println("1.." + count);
        System.exit(failures > 0 ? 1 : 0);
    }
}
